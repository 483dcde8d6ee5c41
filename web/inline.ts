import { createHash } from "node:crypto";
import type { OutputAsset, OutputBundle, OutputChunk } from "rollup";
import type { Plugin } from "vite";

/// The places in the page where the program writes what its server can do, the part of the result that is shown at once,
/// and the result (docs/reference/result.md). The script stands before the result, so that it can show the first part
/// while the browser still reads the result.
const kDataPlace = '<script type="application/json" id="data">null</script>';
const kFirstPlace = '<script type="application/json" id="first">null</script>';
const kServerPlace = '<script type="application/json" id="server">null</script>';

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function only<T>(bundle: OutputBundle, kind: (file: OutputAsset | OutputChunk) => T | undefined, what: string): T {
  const found = Object.values(bundle).map(kind).filter((file): file is NonNullable<T> => file !== undefined);
  const [first] = found;
  if (found.length !== 1 || first === undefined) throw new Error(`found ${found.length} files of ${what}, expected one`);
  return first;
}

/// Puts script and style into the HTML file, which then works from disk and allows nothing else to run: the browser
/// compares their hashes with the Content-Security-Policy.
export function inlineAll(): Plugin {
  return {
    name: "inline-all",
    enforce: "post",
    generateBundle(_, bundle) {
      const script = only(bundle, (file) => (file.type === "chunk" ? file : undefined), "script").code.trim();
      const isStyle = (file: OutputAsset | OutputChunk) => file.type === "asset" && file.fileName.endsWith(".css");
      const style = String(
        only(bundle, (file) => (isStyle(file) ? (file as OutputAsset) : undefined), "style").source,
      ).trim();
      if (script.includes("</script") || style.includes("</style")) throw new Error("a closing tag inside the bundle");
      const policy = [
        "default-src 'none'",
        `script-src ${hashOf(script)}`,
        `style-src ${hashOf(style)}`,
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const html = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        "<title>Capstan</title>",
        `<style>${style}</style>`,
        "</head>",
        "<body>",
        '<div id="page"><noscript>This page draws its charts with JavaScript, which is switched off.</noscript>',
        '<p class="reads" role="status">Reads the result …</p></div>',
        kServerPlace,
        kFirstPlace,
        `<script>${script}</script>`,
        kDataPlace,
        "</body>",
        "</html>",
        "",
      ].join("\n");
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: "asset", fileName: "page.html", source: html });
    },
  };
}
