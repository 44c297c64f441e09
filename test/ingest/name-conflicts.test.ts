import { expect, test } from "bun:test";
import { MessageType, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeWallet, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../support/node.ts";

/** A claim of an ENS name, as it is after its signature was verified. */
function claim(fid: number, at: number): Uint8Array {
  const value = {
    name: Buffer.from("shared.eth"),
    owner: makeWallet(`custody ${fid}`).address,
    fid,
    type: UserNameType.USERNAME_TYPE_ENS_L1,
    timestamp: DEFAULT_NOW_SECS + at,
    signature: Buffer.alloc(65, 1),
  };
  const type = MessageType.MESSAGE_TYPE_USERNAME_PROOF;
  const body = { $case: "usernameProofBody", value } as const;
  return signMessage({ type, fid, timestamp: DEFAULT_TIMESTAMP + at, body }, accountSigner(fid));
}

test("of the proofs of a name by messages the newest counts, by either fid and in any order of arrival", () => {
  using node = startTestNode();
  for (const fid of [1, 2]) node.ingestAll(accountRecords(fid));
  const merged = (bytes: Uint8Array) => node.merge([{ kind: "message", bytes }])[0]?.code ?? "ok";
  const ownerOf = () =>
    node.db.sqlite
      .query<{ fid: number }, []>("SELECT fid FROM username_proofs WHERE name = 'shared.eth'")
      .get()?.fid;
  expect([merged(claim(1, 10)), ownerOf()]).toEqual(["ok", 1]);
  expect([merged(claim(2, 5)), ownerOf()]).toEqual(["bad_request.conflict", 1]);
  expect([merged(claim(2, 15)), ownerOf()]).toEqual(["ok", 2]);
  expect([merged(claim(1, 12)), ownerOf()]).toEqual(["bad_request.conflict", 2]);
  const proofs = node.db.sqlite.query("SELECT count(*) AS n FROM messages WHERE store = 6").get();
  expect(proofs).toEqual({ n: 1 });
});
