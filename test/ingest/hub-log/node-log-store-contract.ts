import { describe, expect, test } from "bun:test";
import type { NodeLogStore } from "../../../src/ingest/hub-log/node-log-store.ts";

interface Fixture extends AsyncDisposable {
  readonly store: NodeLogStore;
}

/** The guarantees of the logs of nodes, over any database. */
export function nodeLogStoreContract(name: string, open: () => Promise<Fixture>): void {
  describe(name, () => {
    test("a node finds its own log", async () => {
      await using fixture = await open();
      expect(await fixture.store.find("a")).toBeUndefined();
      await fixture.store.put("a", { logId: "0a", reservedHeight: 18_000_000_000 });
      await fixture.store.put("b", { logId: "0b", reservedHeight: 1 });
      expect(await fixture.store.find("a")).toEqual({ logId: "0a", reservedHeight: 18_000_000_000 });
      expect(await fixture.store.find("b")).toEqual({ logId: "0b", reservedHeight: 1 });
    });

    test("the reserved height never decreases, also for another log", async () => {
      await using fixture = await open();
      await fixture.store.put("a", { logId: "0a", reservedHeight: 9000 });
      await fixture.store.put("a", { logId: "0c", reservedHeight: 5000 });
      expect(await fixture.store.find("a")).toEqual({ logId: "0c", reservedHeight: 9000 });
    });
  });
}
