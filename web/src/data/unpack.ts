// A long result stands in the page as the base64 text of its gzip.
import { readJson, Unreadable } from "./result";

/// Returns the data of the page: JSON, or JSON that the program packed. Throws Unreadable if it cannot be unpacked.
export async function unpacked(data: unknown): Promise<unknown> {
  if (typeof data !== "string") return data;
  if (typeof DecompressionStream === "undefined") {
    throw new Unreadable(
      "this browser cannot unpack the data of this page. Open it in Chrome or Edge 80, Firefox 113, Safari 16.4 or a later version; `-o json --details` writes the same data as plain JSON",
    );
  }
  let text: string;
  try {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  } catch {
    throw new Unreadable("the data of this page is damaged; the file may be cut off");
  }
  return readJson(text);
}
