import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { readResult, Unreadable } from "./data/result";
import { Page } from "./page";

const kDataId = "data";

function Notice({ text }: { text: string }) {
  return (
    <main>
      <h1>This result cannot be shown</h1>
      <p role="alert">{text}</p>
    </main>
  );
}

const place = document.getElementById("page");
if (place !== null) {
  place.replaceChildren();
  try {
    const result = readResult(document.getElementById(kDataId)?.textContent ?? "");
    document.title = `${result.title || result.scenario} · Capstan`;
    render(<Page result={result} />, place);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    render(<Notice text={error.message} />, place);
  }
}
