#!/usr/bin/env python3
"""Tests `capstan lint --lsp` with an independent client: pygls, which the test suites of editors use. The test is a
whole session of an editor: diagnostics while a file is edited, the rule's page on hover, a quick fix, and the shutdown.

    lsp_client_test.py PROGRAM

scripts/setup installs pygls next to the build. Without pygls the test exits with 77, which ctest shows as skipped.
"""

import asyncio
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "lsp" / "bin" / "python"
TIMEOUT_S = 30
URI = "file:///deploy/vllm%20prod.yaml"
TEXT = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm}
spec:
  scaleTargetRef: {name: vllm}
  maxReplicaCount: 8
  triggers:
    - type: prometheus # ü 😀
      metadata: {query: 'sum(vllm:gpu_cache_usage_perc{namespace="a"})', threshold: "0.8"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template:
    spec:
      containers:
        - {name: vllm, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}
"""

try:
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient
except ImportError:
    if PYTHON.exists() and pathlib.Path(sys.executable) != PYTHON:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    print("lsp client: pygls is missing; scripts/setup installs it")
    sys.exit(77)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


async def session(program):
    client = LanguageClient("an editor", "1")
    published = asyncio.Queue()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: published.put_nowait(params))
    await client.start_io(program, "lint", "--lsp")
    hello = await client.initialize_async(
        lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri="file:///deploy"))
    check(hello.capabilities.hover_provider, "the server offers hovers")
    client.initialized(lsp.InitializedParams())

    client.text_document_did_open(lsp.DidOpenTextDocumentParams(
        text_document=lsp.TextDocumentItem(uri=URI, language_id="yaml", version=1, text=TEXT)))
    opened = await published.get()
    check(opened.uri == URI, "the diagnostics are those of the opened file")
    removed = [found for found in opened.diagnostics if found.code == "metric-removed"]
    check(len(removed) == 1, f"one metric was removed: {opened.diagnostics}")
    place = removed[0].range
    line = TEXT.splitlines()[place.start.line]
    check(line[place.start.character:place.end.character] == "vllm:gpu_cache_usage_perc",
          f"the diagnostic points at the metric, not at {place}")

    document = lsp.TextDocumentIdentifier(uri=URI)
    hover = await client.text_document_hover_async(lsp.HoverParams(text_document=document, position=place.start))
    check("# metric-removed" in hover.contents.value, "the hover shows the rule's page")
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=document, range=place, context=lsp.CodeActionContext(diagnostics=removed)))
    check(len(actions) >= 1, "the server offers a quick fix")
    check(actions[0].is_preferred, "a renamed metric is a safe fix")
    edit = actions[0].edit.changes[URI][0]
    lines = TEXT.splitlines(keepends=True)
    start, end = edit.range.start, edit.range.end
    check(start.line == end.line, "the edit is within one line")
    lines[start.line] = lines[start.line][:start.character] + edit.new_text + lines[start.line][end.character:]

    client.text_document_did_change(lsp.DidChangeTextDocumentParams(
        text_document=lsp.VersionedTextDocumentIdentifier(uri=URI, version=2),
        content_changes=[lsp.TextDocumentContentChangeWholeDocument(text="".join(lines))]))
    fixed = await published.get()
    check(all(found.code != "metric-removed" for found in fixed.diagnostics), "the fix removes the diagnostic")

    client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=document))
    await client.shutdown_async(None)
    client.exit(None)
    code = await client._server.wait()
    check(code == 0, f"the server exits with 0, not {code}")


async def main():
    await asyncio.wait_for(session(sys.argv[1]), TIMEOUT_S)
    print("lsp client: a whole session of an editor passed")


asyncio.run(main())
