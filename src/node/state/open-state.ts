import { NodeSignals } from "../../cluster/node-signals.ts";
import { createExpiryClock } from "../../cluster/shared-clock.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
import { queueLimitsOf } from "../../webhooks/deliver/queue-limits.ts";
import { postgresSettings } from "./postgres/postgres-settings.ts";
import { createStateStores, createStateSweeps } from "./sqlite-stores.ts";
import type { OpenState, OpenStateDeps } from "./thread-state.ts";
import { createStateWriterClient, type StateWriterRpc } from "./writer-client.ts";

/** Opens the state for one thread: state.db with its writer on another thread, or PostgreSQL. */
export async function openStateStores(deps: OpenStateDeps): Promise<OpenState> {
  const settings = postgresSettings(deps.config);
  if (!settings) return openInSqlite(deps);
  // A dynamic import, so that a node with state.db does not load the stores over PostgreSQL in each of its threads.
  const { openInPostgres } = await import("./postgres/open-postgres.ts");
  return openInPostgres(settings, deps);
}

function openInSqlite({ config, link }: OpenStateDeps): OpenState {
  if (!link.writer) throw new Error("state.db has a writer");
  const reader = openStateReader(statePath(config.data.dir));
  const callWriter = createStateWriterClient(connectRpc<StateWriterRpc>(link.writer));
  return {
    stores: {
      ...createStateStores(reader, callWriter, { limits: queueLimitsOf(config) }),
      custodies: undefined,
    },
    clock: systemClock,
    stateClock: createExpiryClock(new NodeSignals(link.signals)),
    sweeps: createStateSweeps(reader, callWriter),
    maintenanceLease: undefined,
    resealLease: undefined,
    [Symbol.asyncDispose]: async () => reader[Symbol.dispose](),
  };
}
