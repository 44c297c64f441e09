import { expect, test } from "bun:test";
import type { IngestRpc } from "../../src/ingest/thread/rpc.ts";
import { Submitter } from "../../src/ingest/thread/submitter.ts";
import { connectRpc, serveRpc } from "../../src/lib/port-rpc.ts";
import { cast } from "../support/records.ts";
import { startTestWriter } from "../support/writer.ts";

const codesOf = (verdicts: readonly ({ code: string } | undefined)[]) =>
  verdicts.map((verdict) => verdict?.code ?? "ok");

test("submissions of one turn share a commit, and each gets the outcomes of its own records", async () => {
  using writer = await startTestWriter(1, 2);
  const submitter = new Submitter(writer.client);
  const before = await writer.client.stats();
  const verdicts = await Promise.all([
    submitter.submit([cast(1, "a")]),
    submitter.submit([cast(3, "nobody"), cast(2, "b")]),
    submitter.submit([]),
    submitter.submit([cast(1, "a")]),
  ]);
  expect(verdicts.map(codesOf)).toEqual([
    ["ok"],
    ["bad_request.validation_failure", "ok"],
    [],
    ["bad_request.duplicate"],
  ]);
  expect((await writer.client.stats()).commits).toBe(before.commits + 1);
});

test("a submission by itself is sent", async () => {
  using writer = await startTestWriter(1);
  expect(codesOf(await new Submitter(writer.client).submit([cast(1, "a")]))).toEqual(["ok"]);
});

// A request of many messages should not wait for the validation of the next request.
test("a large submission is sent at once, in a port message of its own", async () => {
  const { port1, port2 } = new MessageChannel();
  const sizes: number[] = [];
  serveRpc<Pick<IngestRpc, "submit">>(port1, {
    submit(records) {
      sizes.push(records.length);
      return records.map(() => undefined);
    },
  });
  const submitter = new Submitter(connectRpc<IngestRpc>(port2));
  const many = Array.from({ length: 100 }, (_, n) => cast(1, `text ${n}`));
  await Promise.all([submitter.submit(many), submitter.submit([cast(1, "a")]), submitter.submit([])]);
  expect(sizes).toEqual([100, 1]);
  port1.close();
  port2.close();
});

test("a fault of the writer rejects every submission of the port message", async () => {
  const { port1, port2 } = new MessageChannel();
  serveRpc<Pick<IngestRpc, "submit">>(port1, {
    submit() {
      throw new Error("no disk");
    },
  });
  const submitter = new Submitter(connectRpc<IngestRpc>(port2));
  const sent = [submitter.submit([cast(1, "a")]), submitter.submit([cast(1, "b")])];
  expect(await Promise.allSettled(sent)).toEqual([
    { status: "rejected", reason: new Error("no disk") },
    { status: "rejected", reason: new Error("no disk") },
  ]);
  port1.close();
  port2.close();
});
