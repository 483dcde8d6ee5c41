import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { readJson, readResult, Unreadable } from "./data/result";
import { unpacked } from "./data/unpack";
import { FirstPage, Page } from "./page";
import { LivePage } from "./serve/live_page";
import { readRecording } from "./data/recording";
import { RecordingPage } from "./serve/recording_page";
import { readServer } from "./serve/server";
import { ServedScenario } from "./serve/served";

const kDataId = "data";
const kFirstId = "first";
const kServerId = "server";

function Notice({ text }: { text: string }) {
  return (
    <main>
      <h1>This result cannot be shown</h1>
      <p role="alert">{text}</p>
    </main>
  );
}

/// Shows the data of the page, once all of it has been read.
async function show(place: HTMLElement): Promise<void> {
  try {
    const data = await unpacked(readJson(document.getElementById(kDataId)?.textContent ?? ""));
    const server = readServer(document.getElementById(kServerId)?.textContent ?? "");
    const speed = server?.live_speed ?? null;
    const recording = readRecording(data, speed !== null);
    if (recording !== undefined) {
      document.title = `${recording.recording} · Capstan`;
      const isController = server?.is_controller ?? false;
      render(
        speed === null ? <RecordingPage recording={recording} /> : <LivePage start={recording} speed={speed} isController={isController} />,
        place,
      );
    } else {
      const result = readResult(data);
      document.title = `${result.title || result.scenario} · Capstan`;
      const limits = server?.what_if ?? null;
      render(limits === null ? <Page result={result} /> : <ServedScenario stated={result} limits={limits} />, place);
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    render(<Notice text={error.message} />, place);
  }
}

/// Shows the ranking while the browser still reads what happened over time.
function showFirst(place: HTMLElement): void {
  try {
    const first = readJson(document.getElementById(kFirstId)?.textContent ?? "");
    if (first !== null) render(<FirstPage result={readResult(first)} />, place);
  } catch (error) {
    // `show` reports data that cannot be read.
    if (!(error instanceof Unreadable)) throw error;
  }
}

const place = document.getElementById("page");
if (place !== null) {
  place.replaceChildren();
  if (document.readyState === "loading") {
    showFirst(place);
    addEventListener("DOMContentLoaded", () => void show(place));
  } else {
    void show(place);
  }
}
