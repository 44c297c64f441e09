import type { WorkLease } from "../../cluster/postgres/work-lease.ts";
import type { Config } from "../../config/schema.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { StateStores } from "./state-stores.ts";

/** What a thread needs to open the state. It can be sent to the thread. */
export interface StateLink {
  readonly node: StateNode;
  /** Those of `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
  /** Those of `PgStats`; undefined with state.db. */
  readonly pgStats: SharedArrayBuffer | undefined;
  /** Connects to the writer of state.db; undefined with PostgreSQL, where every thread writes itself. */
  readonly writer: MessagePort | undefined;
}

/** The parts of a node that use the state, with different shares of the connections to PostgreSQL. */
export type StatePart = "main" | "ingest" | "maintenance" | "delivery" | "fanOut" | "writes" | "http";

/** The state as one thread sees it. */
export interface OpenState extends AsyncDisposable {
  readonly stores: StateStores;
  /** The time by which the thread decides what is due: PostgreSQL's, or else the machine's. */
  readonly clock: Clock;
  /** The time by which secrets, keys and sessions expire: no step of the machine's clock lets them live longer. */
  readonly stateClock: Clock;
  /** For maintenance alone. */
  readonly sweeps: readonly Sweep[];
  /** Held by the one node that sweeps; undefined with state.db. */
  readonly maintenanceLease: WorkLease | undefined;
  /** See `createResealLease`; undefined with state.db. */
  readonly resealLease: ((keyId: string) => WorkLease) | undefined;
}

export interface OpenStateDeps {
  readonly config: Config;
  readonly part: StatePart;
  readonly link: StateLink;
  readonly log: Logger;
}
