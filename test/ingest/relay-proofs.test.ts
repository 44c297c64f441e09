import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { UserNameProof, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, makeWallet } from "../support/messages.ts";
import { startTestNode, type TestNode } from "../support/node.ts";
import { fname } from "../support/records.ts";

type ProofOp = Extract<RelayedOp, { kind: "proof" }>;
const op = (parts: Omit<ProofOp, "kind" | "happenedAt">): ProofOp => ({
  kind: "proof",
  happenedAt: 0,
  ...parts,
});
const ensName = (fid: number, timestamp: number): Uint8Array =>
  UserNameProof.encode({
    timestamp,
    name: Buffer.from("someone.eth"),
    owner: makeWallet(`owner ${fid}`).address,
    signature: Buffer.alloc(65, 1),
    fid,
    type: UserNameType.USERNAME_TYPE_ENS_L1,
  }).finish();

/** The proofs that the rows have, the shown one first. */
function proofsIn({ db }: TestNode) {
  const rowsOf = (table: string) =>
    db.sqlite
      .query<{ fid: number; timestamp: number }, []>(`SELECT fid, timestamp FROM ${table} ORDER BY fid`)
      .all();
  return { shown: rowsOf("username_proofs"), waiting: rowsOf("username_proof_rivals") };
}

let node: TestNode;
beforeEach(() => {
  node = startTestNode();
});
afterEach(() => node[Symbol.dispose]());

describe("proofs of one name by several fids", () => {
  /** The operations of one fid, in the order of its own shard: each replaces or removes its proof. */
  const streamOf = (fid: number) =>
    fc.array(fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }), { maxLength: 4 }).map((times) => {
      let live: Uint8Array | undefined;
      return times.map((time): ProofOp => {
        const removed = live;
        live = time === undefined ? undefined : ensName(fid, time);
        return op({ removed, added: live });
      });
    });
  const streams = fc.tuple(streamOf(1), streamOf(2), streamOf(3));
  const turns = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 12 });

  test("the latest live one is shown and the others wait, however the shards interleave and what is repeated", () => {
    fc.assert(
      fc.property(streams, turns, fc.nat(4), (all, order, from) => {
        node.db.sqlite.exec("DELETE FROM username_proofs; DELETE FROM username_proof_rivals");
        const follow = (parts: readonly (readonly ProofOp[])[]) => {
          const left = parts.map((ops) => [...ops]);
          node.relay(order.flatMap((turn) => left[turn]?.shift() ?? []));
          node.relay(left.flat());
        };
        const [shown, ...waiting] = all
          .flatMap((ops) => ops.at(-1)?.added ?? [])
          .map((bytes) => ({ bytes, ...UserNameProof.decode(bytes) }))
          .sort((a, b) => b.timestamp - a.timestamp || Buffer.compare(b.bytes, a.bytes))
          .map(({ fid, timestamp }) => ({ fid, timestamp }));
        const expected = {
          shown: shown ? [shown] : [],
          waiting: waiting.sort((a, b) => a.fid - b.fid),
        };
        follow(all);
        expect(proofsIn(node)).toEqual(expected);
        follow(all.map((ops) => ops.slice(from)));
        expect(proofsIn(node)).toEqual(expected);
      }),
    );
  });

  test("count once per fid, with the latest, whether or not the earlier one was removed", () => {
    const after = (fid: number, timestamp: number) => {
      node.relay([op({ added: ensName(fid, timestamp) })]);
      const { shown, waiting } = proofsIn(node);
      return [...shown, ...waiting].map((proof) => `${proof.fid}@${proof.timestamp}`);
    };
    expect([after(2, 9), after(1, 5), after(1, 3)]).toEqual([["2@9"], ["2@9", "1@5"], ["2@9", "1@5"]]);
    expect([after(1, 6), after(1, 10)]).toEqual([
      ["2@9", "1@6"],
      ["1@10", "2@9"],
    ]);
    expect(after(1, 8)).toEqual(["1@10", "2@9"]);
  });
});

test("a proof of an fid whose names are not kept only takes a name from its holder", () => {
  const stranger = (ageSecs: number) => op({ added: fname(9, "moved", ageSecs).bytes, onlyIfShown: true });
  const holder = () => proofsIn(node).shown;
  node.relay([stranger(50)]);
  expect(holder()).toEqual([]);
  node.relay([op({ added: fname(1, "moved", 40).bytes }), stranger(50)]);
  expect(holder()).toEqual([{ fid: 1, timestamp: DEFAULT_NOW_SECS - 40 }]);
  node.relay([stranger(30)]);
  expect(holder()).toEqual([{ fid: 9, timestamp: DEFAULT_NOW_SECS - 30 }]);
});
