import type { StateDatabase } from "../../../src/db/state/database.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import type { TestNode } from "../../support/node.ts";
import { cast } from "../../support/records.ts";
import { localStores } from "../../support/state-stores.ts";

const keyOf = (idem: string) => ({ ownerFid: 7, signerUuid: "", route: "POST /cast", idem });

/** Stores a cast of fid 7 under an idempotency key, which is its text too. `isMerged`: the index has it and its request has ended. */
export async function writeKeyed(
  node: TestNode,
  state: StateDatabase,
  idem: string,
  { isMerged = true } = {},
): Promise<void> {
  const { writes } = localStores(state);
  const record = cast(7, idem);
  const decoded = decodeMessage(record.bytes);
  if (!decoded.ok) throw new Error("a cast");
  const { hash } = decoded.value;
  const request = crypto.randomUUID();
  const result = await writes.begin(
    {
      request,
      ownerFid: 7,
      apiKeyId: "key",
      call: {
        ...keyOf(idem),
        bodyDigest: new Uint8Array(32),
        outcomes: [{ hash: hash.toHex(), fid: 7, type: 1, state: "pending" }],
      },
      messages: [{ position: 0, fid: 7, type: 1, hash, message: record.bytes }],
      audit: { action: "write.cast", signerUuid: null, requestId: "r", address: "127.0.0.1" },
    },
    100,
  );
  const [lease] = result.kind === "leased" ? result.leases : [];
  if (!lease) throw new Error(`the write is ${result.kind}`);
  if (!isMerged) return;
  node.merge([record]);
  await writes.settle(request, [{ lease, result: { kind: "merged" } }]);
}

/** Stores two casts of fid 7 under one key, of which the index has the first, and the second waits. */
export async function writeHalf(node: TestNode, state: StateDatabase, idem: string): Promise<void> {
  const { writes } = localStores(state);
  const records = [cast(7, `${idem} 1`), cast(7, `${idem} 2`)] as const;
  const messages = records.map(({ bytes }, position) => {
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) throw new Error("a cast");
    return { position, fid: 7, type: 1, hash: decoded.value.hash, message: bytes };
  });
  const outcomes = messages.map(({ hash }) => ({
    hash: hash.toHex(),
    fid: 7,
    type: 1,
    state: "pending" as const,
  }));
  const request = crypto.randomUUID();
  const call = { ...keyOf(idem), bodyDigest: new Uint8Array(32), outcomes };
  const audit = { action: "write.cast", signerUuid: null, requestId: "r", address: "127.0.0.1" } as const;
  const result = await writes.begin({ request, ownerFid: 7, apiKeyId: "key", call, messages, audit }, 100);
  const [lease] = result.kind === "leased" ? result.leases : [];
  if (!lease) throw new Error(`the write is ${result.kind}`);
  node.merge([records[0]]);
  await writes.settle(request, [{ lease, result: { kind: "merged" } }]);
}

/** Whether the write with an idempotency key has ended; undefined when the state does not know it. */
export async function isDone(state: StateDatabase, idem: string): Promise<boolean | undefined> {
  return (await localStores(state).writes.findCall(keyOf(idem)))?.isDone;
}
