import { expect, test } from "bun:test";
import { rejection } from "../../src/protocol/rejection.ts";
import { FOREIGN_NAME } from "../../src/protocol/validate/username-proof.ts";
import { PeerError } from "../../src/upstream/calls/peer.ts";
import { createUpstreamFaultLog } from "../../src/upstream/follow/fault-log.ts";
import { ManualClock } from "../support/clock.ts";
import { logTo } from "../support/log.ts";

test("logs one line a minute per kind, with the number of suppressed lines", () => {
  const lines: Record<string, unknown>[] = [];
  const clock = new ManualClock(1_700_000_000);
  const log = logTo((line: string) => lines.push(JSON.parse(line)));
  const faults = createUpstreamFaultLog({ log, clock });
  for (let n = 0; n < 250; n += 1) {
    faults.fault(`fid ${n} could not be read`, new Error("down"));
    faults.refused(rejection("bad_request.validation_failure", "hash is wrong"));
    faults.peer(new PeerError("it has no shards"));
    faults.unknown({ kind: "message", number: 22 });
    clock.advanceSecs(0.6);
  }
  const logged = (msg: string) => lines.filter((line) => String(line.msg).startsWith(msg));
  expect(logged("Retrying").map(({ suppressed }) => suppressed)).toEqual([undefined, 99, 99]);
  expect(logged("upstream.url").map(({ suppressed }) => suppressed)).toEqual([undefined, 99, 99]);
  expect(logged("Kept").map(({ suppressed, kind, number }) => [suppressed, kind, number])).toEqual([
    [undefined, "message", 22],
    [99, "message", 22],
    [99, "message", 22],
  ]);
  expect(logged("Skipped").map(({ suppressed, reason }) => [suppressed, reason])).toEqual([
    [undefined, "hash is wrong"],
    [99, "hash is wrong"],
    [99, "hash is wrong"],
  ]);
});

test("logs the message of a call's error, and the stack of any other error", () => {
  const lines: Record<string, unknown>[] = [];
  const clock = new ManualClock(1_700_000_000);
  const log = logTo((line: string) => lines.push(JSON.parse(line)));
  const faults = createUpstreamFaultLog({ log, clock });
  const details = "No connection established";
  faults.fault("a call", Object.assign(new Error(`14 UNAVAILABLE: ${details}`), { code: 14, details }));
  clock.advanceSecs(60);
  faults.fault("a bug", new TypeError("undefined is not a function"));
  faults.peer(new PeerError("it has no shards"));
  expect(lines[0]).toMatchObject({ reason: "UNAVAILABLE: No connection established" });
  expect(lines[0]).not.toHaveProperty("err");
  expect(lines[1]).toHaveProperty("err.stack");
  expect(lines[2]).toMatchObject({
    level: "error",
    msg: expect.stringContaining("Farcaster node that can be followed"),
  });
  expect(Object.keys(lines[2] ?? {}).sort()).toEqual(["level", "msg", "time"]);
});

test("says once a minute that names are signed by another name server, as those of a demo network are", () => {
  const lines: Record<string, unknown>[] = [];
  const clock = new ManualClock(1_700_000_000);
  const faults = createUpstreamFaultLog({
    log: logTo((line: string) => lines.push(JSON.parse(line))),
    clock,
  });
  faults.refused(rejection("bad_request.validation_failure", "hash is wrong"));
  for (let n = 0; n < 3; n += 1) faults.refused(rejection("bad_request.validation_failure", FOREIGN_NAME));
  expect(lines.map(({ msg }) => msg)).toEqual([
    "Skipped a record of the upstream",
    expect.stringContaining("as a demo network does: users of this node have no such names"),
  ]);
});
