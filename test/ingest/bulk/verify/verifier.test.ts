import { describe, expect, test } from "bun:test";
import { packMessages } from "../../../../src/db/index/bulk/packed-messages.ts";
import { splitEncoded } from "../../../../src/db/index/messages/split.ts";
import { candidateAt } from "../../../../src/ingest/bulk/spool-candidates.ts";
import { createInlineVerifier } from "../../../../src/ingest/bulk/verify/verifier.ts";
import type { EncodedRecord } from "../../../../src/ingest/record.ts";
import { packBytes, unpackBytes } from "../../../../src/lib/bytes.ts";
import { Store } from "../../../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../../../src/protocol/message/signed-message.ts";
import {
  FarcasterNetwork,
  Message,
  MessageType,
  UserNameProof,
} from "../../../../src/protocol/wire/generated/message.ts";
import { keysOfSigned } from "../../../../src/trust/trie-key.ts";
import { Action, acts } from "../../../support/channel-records.ts";
import { gaslessKeyMessage } from "../../../support/gasless-keys.ts";
import { DEFAULT_NOW_SECS, makeSigner } from "../../../support/messages.ts";
import { accountRecords } from "../../../support/node.ts";
import { bio, cast, ensProof, link, signed } from "../../../support/records.ts";
import { expectOk } from "../../../support/result.ts";

const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const verifier = createInlineVerifier(() => ({ network, nowUnixSecs: DEFAULT_NOW_SECS, isHistory: true }));

const lend = (numUnits: number, toFid = 2) =>
  signed(1, {
    type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
    body: { $case: "lendStorageBody", value: { toFid, numUnits, unitType: 2 } },
  }).bytes;
const inChannel = acts(1, "books", Action.addMember, 2).bytes;
const addedKey = gaslessKeyMessage({
  ...{ fid: 1, signer: makeSigner("first"), requestFid: 9, ttlSecs: 60, nonce: 1 },
});
/** Signed, and refused by a rule of the protocol. */
const refused = cast(1, "a".repeat(2000)).bytes;
const forged = (() => {
  const message = Message.decode(cast(1, "forged").bytes);
  message.signature.fill(7, 0, 8);
  return Message.encode(message).finish();
})();

describe("a page of an fid and a store", () => {
  const messagesOf = async (store: Store, ...messages: readonly Uint8Array[]) => {
    const page = { fid: 1, store, messages: packBytes(messages), collectsMentions: false };
    const parts = await verifier.verifyPage(page);
    return [
      parts.flatMap((part) => unpackBytes(part.messages).map((bytes) => Buffer.from(bytes).toString("hex"))),
      parts.flatMap(({ refusals }) => refusals.map(({ reason }) => reason)),
    ];
  };
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

  test("has the messages of the store only: those of other stores, other fids and channels are skipped", async () => {
    const follow = link(1, "follow", 2).bytes;
    const others = [cast(1, "gm").bytes, link(2, "follow", 1).bytes, inChannel, bio(1, "hello").bytes];
    expect(await messagesOf(Store.Links, ...others, follow)).toEqual([[hex(follow)], []]);
    for (const store of Object.values(Store)) expect(await messagesOf(store, inChannel)).toEqual([[], []]);
  });

  test("refuses what breaks a rule, and keeps the rest", async () => {
    const gm = cast(1, "gm").bytes;
    expect(await messagesOf(Store.Casts, refused, gm, Uint8Array.of(255))).toEqual([
      [hex(gm)],
      [expect.stringContaining("text"), expect.stringContaining("cannot be decoded")],
    ]);
  });
});

describe("what is asked of valid messages", () => {
  const [mentioning, plain] = [5, 6].map(
    (mention) =>
      signed(1, {
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        body: { $case: "castAddBody", value: { text: "gm", mentions: [mention], mentionsPositions: [0] } },
      }).bytes,
  ) as [Uint8Array, Uint8Array];
  const page = { fid: 1, store: Store.Casts, messages: packBytes([mentioning, forged, plain]) };

  test("is whom they mention", async () => {
    const mentioned = async (collectsMentions: boolean) =>
      (await verifier.verifyPage({ ...page, collectsMentions })).flatMap((part) => part.mentioned);
    expect([await mentioned(true), await mentioned(false)]).toEqual([[5, 6], []]);
  });

  test("are their rows for the bulk build", async () => {
    const rows = packMessages([mentioning, plain].map((bytes) => splitEncoded(bytes, network)));
    const verify = (packsColumns: boolean) =>
      verifier.verifyPage({ ...page, collectsMentions: false, packsColumns });
    expect(await verify(true)).toMatchObject([{ messages: { count: 0 }, packed: rows }]);
    expect(await verify(false)).toMatchObject([{ messages: { count: 2 }, packed: undefined }]);
  });

  test("are the records that may go to the spool of an import", async () => {
    const records = [mentioning, forged, Uint8Array.of(255)].map((bytes) => ({
      kind: "message" as const,
      bytes,
    }));
    const event: EncodedRecord = accountRecords(1)[0] as EncodedRecord;
    const all = [...records, event, { kind: "message" as const, bytes: plain }];
    const validate = (collectsCandidates: boolean) => verifier.validateRecords(all, { collectsCandidates });
    const { refusals, candidates } = await validate(true);
    expect([...refusals.keys()]).toEqual([1, 2]);
    expect(candidates.map((part) => all.map((_, at) => candidateAt(part, at)?.fid))).toEqual([
      [1, undefined, undefined, undefined, 1],
    ]);
    expect(await validate(false)).toEqual({ refusals, candidates: [] });
  });
});

describe("messages of a snapshot", () => {
  const keyOf = (message: Uint8Array, at = 0) =>
    keysOfSigned(expectOk(decodeMessage(message)))[at] as Uint8Array;
  const verify = async (...entries: readonly (readonly [message: Uint8Array, key?: Uint8Array])[]) => {
    const [part] = await verifier.verifySnapshot({
      keys: packBytes(entries.map(([message, key]) => key ?? keyOf(message))),
      messages: packBytes(entries.map(([message]) => message)),
    });
    if (!part) throw new Error("a part");
    const { packed, proofs, unstored, keyAdds, refusals, broken } = part;
    return {
      stored: packed.count,
      names: proofs.map((proof) => Buffer.from(UserNameProof.decode(proof).name).toString()),
      unstored: unstored.map((key) => key.toHex()),
      keyAdds: keyAdds.map(({ fid, publicKey }) => [fid, publicKey.toHex()]),
      refusals: refusals.length,
      broken,
    };
  };
  const hexOf = (message: Uint8Array) => keyOf(message).toHex();
  const NOTHING = { stored: 0, names: [], unstored: [], keyAdds: [], refusals: 0, broken: undefined };

  test("are stored, but for proofs, gasless keys, channels, ended lends and what a rule refuses: of these the keys are kept", async () => {
    const proof = ensProof(1, "one.eth").bytes;
    expect(await verify([cast(1, "gm").bytes], [lend(5)])).toEqual({ ...NOTHING, stored: 2 });
    expect(await verify([lend(0)])).toEqual({ ...NOTHING, unstored: [hexOf(lend(0))] });
    expect(await verify([inChannel])).toEqual({ ...NOTHING, unstored: [hexOf(inChannel)] });
    expect(await verify([refused])).toEqual({ ...NOTHING, unstored: [hexOf(refused)], refusals: 1 });
    expect(await verify([proof])).toEqual({ ...NOTHING, names: ["one.eth"], unstored: [hexOf(proof)] });
    expect(await verify([addedKey])).toEqual({
      ...NOTHING,
      unstored: [hexOf(addedKey)],
      keyAdds: [[1, makeSigner("first").publicKey.toHex()]],
    });
  });

  test("are those of their authors: the copy of a lend in the account of its borrower is skipped", async () => {
    expect(await verify([lend(5), keyOf(lend(5), 1)])).toEqual(NOTHING);
  });

  test("are not of the network if one has another key, no valid signature or no valid form; none after it counts", async () => {
    const gm = cast(1, "gm").bytes;
    const [other] = [keyOf(cast(1, "gn").bytes)];
    expect(await verify([gm, other], [cast(1, "a").bytes])).toEqual({ ...NOTHING, broken: "key_mismatch" });
    expect(await verify([gm], [forged], [cast(1, "a").bytes])).toEqual({
      ...NOTHING,
      stored: 1,
      broken: "bad_message",
    });
    expect(await verify([Uint8Array.of(255), other])).toEqual({ ...NOTHING, broken: "bad_message" });
  });
});
