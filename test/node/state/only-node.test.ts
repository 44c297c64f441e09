import { expect, test } from "bun:test";
import { createOwners } from "../../../src/auth/owners/owners.ts";
import { NodeSignals } from "../../../src/cluster/node-signals.ts";
import { openStateStores } from "../../../src/node/state/open-state.ts";
import { configWith } from "../../runtime/config.ts";
import { createState } from "../../support/empty-databases.ts";
import { registerEvent, transferEvent } from "../../support/events.ts";
import { silentLog } from "../../support/log.ts";
import { makeWallet } from "../../support/messages.ts";
import { startTestNode } from "../../support/node.ts";

const FID = 3;
const [owner, thief] = [makeWallet("owner").address, makeWallet("thief").address];

test("with state.db, an invented transfer counts no longer once it was removed from the index", async () => {
  using node = startTestNode();
  createState(node.dir)[Symbol.dispose]();
  const { port1: writer, port2 } = new MessageChannel();
  const link = {
    node: { nodeId: "only", bootId: "boot", slot: 0 },
    signals: new NodeSignals().shared,
    pgStats: undefined,
    writer,
  };
  const config = configWith(`data.dir=${node.dir}`);
  await using state = await openStateStores({ config, part: "http", link, log: silentLog });
  const owners = createOwners({ db: node.db, custodies: state.stores.custodies });
  node.ingestEvent(registerEvent(FID, owner, { block: 1 }));
  const invented = transferEvent(FID, owner, thief, { block: 2 });
  node.ingestEvent(invented);
  expect(await owners.recordAct(FID, thief)).toBe(true);
  node.relay([{ kind: "removeOnChainEvent", ref: invented, happenedAt: 0 }]);
  expect(await owners.custodyOf(FID, owner)).toEqual(owner);
  expect(await owners.recordAct(FID, owner)).toBe(true);
  port2.close();
});
