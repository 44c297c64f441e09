import { expect, test } from "bun:test";
import { openIndexReader } from "../../../src/db/index/database.ts";
import { OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { StoredDigests, storedEvents } from "../../../src/upstream/peers/stored-events.ts";
import { recoveryEvent, registerEvent } from "../../support/events.ts";
import { makeWallet } from "../../support/messages.ts";
import { eventRecord, startTestNode } from "../../support/node.ts";
import { rowsRead } from "../../support/rows-read.ts";

const FID = 7;
const TYPE = OnChainEventType.EVENT_TYPE_ID_REGISTER;
const { address } = makeWallet("owner");

test.each(["another connection", "the same connection"])(
  "a digest of many events is read again only after a commit, of %s",
  async (whose) => {
    using node = startTestNode();
    using reader = openIndexReader(node.db.file);
    const db = whose === "the same connection" ? node.db : reader;
    node.ingestEvent(registerEvent(FID, address, { block: 1 }));
    const change = (block: number) => eventRecord(recoveryEvent(FID, address, { block }));
    node.ingestAll(Array.from({ length: 100 }, (_, at) => change(10 + at)));
    const digests = new StoredDigests(db);
    const isSame = async () => expect(digests.of(TYPE, FID)).toBe(storedEvents(db, TYPE, FID).digest);
    // `storedEvents` reads all of them each time.
    expect(await rowsRead(db, isSame)).toBeWithin(202, 210);
    expect(await rowsRead(db, isSame)).toBeWithin(101, 110);
    node.ingestAll([change(500)]);
    expect(await rowsRead(db, isSame)).toBeWithin(204, 210);
  },
);
