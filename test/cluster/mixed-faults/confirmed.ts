import type { TestCluster } from "../../support/cluster.ts";
import { sentTokens } from "./sender.ts";

/** What the state says is delivered or sent, and will say for ever: it is on the server's disk. */
export interface Confirmed {
  /** When a delivery or a token of a notification was found to be confirmed, unix ms, by its id. */
  readonly sinceMs: ReadonlyMap<string, number>;
  /** How often it was looked. */
  readonly looks: number;
  stop(): Promise<void>;
}

/** Looks again and again while the server responds. */
export async function watchConfirmed({ database }: TestCluster, everyMs: number): Promise<Confirmed> {
  // A synced commit makes those before it durable, too.
  await database.query("CREATE TABLE IF NOT EXISTS public.looks (at bigint)");
  const sinceMs = new Map<string, number>();
  let looks = 0;
  let isOver = false;
  const look = async () => {
    const found = await database.transaction(async (query) => {
      const delivered = await query("SELECT message_id FROM svc.deliveries WHERE state = 'delivered'");
      const sent = await query(
        `SELECT k.notification_id AS id, d.block, d.fids FROM svc.dedupe d JOIN svc.dedupe_keys k ON k.key = d.key
         WHERE d.sent`,
      );
      await query(`INSERT INTO public.looks VALUES (${Date.now()})`);
      return [...delivered.map(({ message_id }) => String(message_id)), ...sentTokens(sent)];
    });
    for (const id of found) if (!sinceMs.has(id)) sinceMs.set(id, Date.now());
    looks += 1;
  };
  const looking = (async () => {
    while (!isOver) {
      await look().catch(() => undefined);
      await Bun.sleep(everyMs);
    }
  })();
  return {
    sinceMs,
    get looks() {
      return looks;
    },
    async stop() {
      isOver = true;
      await looking;
    },
  };
}
