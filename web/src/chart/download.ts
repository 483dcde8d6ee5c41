// Saves charts and tables as files.

function save(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

/// A table: a head, and rows of the same length.
export interface Table {
  head: string[];
  rows: (string | number)[][];
}

/// Digits of a number in a table. Further ones are rounding errors of sums.
const kDigits = 10;

/// Returns a value of a table as text: 13.95, not 13.950000000000003.
export function cellText(value: string | number): string {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(kDigits))) : String(value);
}

function cell(value: string | number): string {
  const text = cellText(value);
  // A spreadsheet would run a name that begins like a formula.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(table: Table): string {
  return [table.head, ...table.rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

export function saveCsv(name: string, table: Table): void {
  const url = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
  save(`${name}.csv`, url);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/// Styles of an SVG element that its picture needs; a picture sees no style sheet.
const kSvgStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity"];

/// Saves an SVG element as a picture.
export async function saveSvgPng(name: string, svg: SVGSVGElement, background: string): Promise<void> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [parts, shown] = [copy.querySelectorAll("*"), svg.querySelectorAll("*")];
  shown.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const key of kSvgStyles) parts[i]?.setAttribute(key, style.getPropertyValue(key));
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  savePng(name, [canvas], background);
}

/// Saves pictures of equal size as one picture. Each is drawn on top of the ones before it.
export function savePng(name: string, pictures: HTMLCanvasElement[], background: string): void {
  const [first] = pictures;
  if (first === undefined) return;
  const copy = document.createElement("canvas");
  copy.width = first.width;
  copy.height = first.height;
  const context = copy.getContext("2d");
  if (context === null) return;
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  for (const picture of pictures) context.drawImage(picture, 0, 0);
  save(`${name}.png`, copy.toDataURL("image/png"));
}
