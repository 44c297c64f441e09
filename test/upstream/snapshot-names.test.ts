import { expect, test } from "bun:test";
import { FarcasterNetwork, UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import { SnapshotPage } from "../../src/protocol/wire/generated/snapshot.ts";
import { verifyEntries } from "../../src/upstream/fill/replication/account-records.ts";
import { Scope } from "../../src/upstream/scope.ts";
import { signedFnameProof, TEST_NAME_SERVER } from "../support/events.ts";
import { vectorJson } from "../support/vectors.ts";

const FNAME = "fname with another owner: not bound by the root";

test("check 4: an fname of a snapshot with another owner, which no root binds, is refused, for the name server has not signed it", async () => {
  const { cases } = vectorJson<{ cases: { name: string; page: string }[] }>("pages.json");
  const { entries } = SnapshotPage.decode(
    Buffer.from(cases.find(({ name }) => name === FNAME)?.page ?? "", "hex"),
  );
  const entry = entries.find(({ fnameTransfer }) => fnameTransfer);
  if (!entry?.fnameTransfer) throw new Error("the page has no fname");
  const changed = UserNameProof.decode(entry.fnameTransfer.proof);
  const name = Buffer.from(changed.name).toString();
  const owner = changed.owner.toReversed();
  const honest = signedFnameProof(name, changed.fid, owner, changed.timestamp);
  const refused: string[] = [];
  const rules = {
    network: FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
    nameServer: TEST_NAME_SERVER.address,
    nowUnixSecs: changed.timestamp + 60,
    scope: new Scope(undefined, []),
    shards: 2,
    hasBlockShard: true,
    logsHubEvents: false,
    onRefused: ({ reason }: { reason: string }) => void refused.push(reason),
  };
  const verifier = { verifySnapshot: async () => [] };
  const opsOf = async (proof: UserNameProof) => {
    const fnameTransfer = { ...entry.fnameTransfer, proof: UserNameProof.encode(proof).finish() };
    const place = { shard: 1, virtualShard: entry.key[0] ?? 0 };
    const { ops } = await verifyEntries({ verifier, rules }, place, [{ ...entry, fnameTransfer }]);
    return ops.map(({ kind }) => kind);
  };
  expect(await opsOf(honest)).toEqual(["proof"]);
  expect(await opsOf({ ...honest, owner: changed.owner })).toEqual([]);
  expect(refused).toEqual([expect.stringContaining("name server")]);
});
