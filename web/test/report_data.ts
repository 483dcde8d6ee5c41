// The result in the file of a report.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Result } from "../src/data/result";

export function resultOf(report: string): Result {
  const html = readFileSync(report, "utf8");
  const from = html.indexOf('id="data">') + 10;
  const data: unknown = JSON.parse(html.slice(from, html.indexOf("</script>", from)));
  return (typeof data === "string" ? JSON.parse(gunzipSync(Buffer.from(data, "base64")).toString()) : data) as Result;
}
