import { afterAll, beforeAll, expect, test } from "bun:test";
import { documentExample } from "../support/documents.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { startTestStreams, type TestStreams } from "../support/streams.ts";

let bench: TestStreams;
beforeAll(() => {
  bench = startTestStreams();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Runs a command of docs/stream.md until it has printed the hello, then casts, and returns the first frame of the cast. */
async function firstEvent(command: readonly string[], text: string): Promise<string> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "ignore" });
  let printed = "";
  let hasCast = false;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    printed += chunk;
    if (printed.includes("event: cast.created") && printed.endsWith("\n\n")) break;
    if (hasCast || !printed.includes("event: hello")) continue;
    hasCast = true;
    const timestamp = DEFAULT_TIMESTAMP - 100;
    bench.node.ingestMessage(signedCast(1, text, accountSigner(1), { timestamp }));
  }
  child.kill();
  await child.exited;
  return printed;
}

const here = (code: string) => code.replaceAll("http://127.0.0.1:8080", bench.http.url);

test("the stream with curl prints an event", async () => {
  const command = here(documentExample("stream with curl"));
  expect(await firstEvent(["sh", "-c", `exec ${command}`], "On Farcaster")).toContain("On Farcaster");
});

test("the stream with fetch prints an event", async () => {
  const script = here(documentExample("stream with fetch"));
  expect(await firstEvent([process.execPath, "-e", script], "Gm, all")).toContain("Gm, all");
});
