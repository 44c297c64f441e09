import type { CustodyStore } from "../../auth/owners/custody-store.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import type { OwnerFindings } from "../../checks/owners/owner-findings.ts";
import type { PostgresState } from "../../cluster/cluster-figures.ts";
import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Pauses } from "../../cluster/pauses.ts";
import type { MembershipDeps } from "../../cluster/postgres/membership.ts";
import type { WorkLease } from "../../cluster/postgres/work-lease.ts";
import type { Config } from "../../config/schema.ts";
import type { PgStats } from "../../db/postgres/pool-stats.ts";
import type { StateNode, Sweep } from "../../db/state/state-db.ts";
import type { NoticeStore } from "../../notices/store/notice-store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { StateStores } from "./stores.ts";

/** What a thread needs to open the state. It can be sent to the thread. */
export interface StateLink {
  readonly node: StateNode;
  /** See `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
  /** See `PgStats`; undefined with state.db. */
  readonly pgStats: SharedArrayBuffer | undefined;
  /** Connects to the writer of state.db; undefined with PostgreSQL, where every thread writes directly. */
  readonly writer: MessagePort | undefined;
}

/** The parts of a node that use the state, with different shares of the PostgreSQL connections. */
export type StatePart = "main" | "ingest" | "maintenance" | "delivery" | "fanOut" | "writes" | "http";

/** The parts that start on demand. */
export type PartOnNeed = Extract<StatePart, "delivery" | "fanOut" | "writes">;

/** The state from the point of view of one thread. */
export interface OpenState extends AsyncDisposable {
  readonly stores: StateStores;
  /** The time that decides what is due: PostgreSQL's or, with state.db, the machine's. */
  readonly clock: Clock;
  /** The time by which secrets, keys and sessions expire: setting the machine's clock does not extend them. */
  readonly stateClock: Clock;
  /** Used only by maintenance. */
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

/** The state from the point of view of the main thread. */
export interface MainState {
  readonly node: StateNode;
  readonly pauses: Pick<Pauses, "latest">;
  /** The threads for which the state has work; undefined with PostgreSQL, where other nodes may add work at any time. */
  readonly threadsWithWork: ReadonlySet<PartOnNeed> | undefined;
  /** Counters of all threads' calls to PostgreSQL; undefined with state.db. */
  readonly pgStats: PgStats | undefined;
  /** Undefined with state.db. */
  readonly postgres: PostgresState | undefined;
  /** The incidents and notices in PostgreSQL, and the lease of the node that decides on shared incidents; undefined with state.db. */
  readonly incidents:
    | {
        readonly store: IncidentStore;
        readonly notices: NoticeStore;
        readonly ownerFindings: OwnerFindings;
        readonly custodies: CustodyStore;
        readonly lease: WorkLease;
      }
    | undefined;
  /** Releases what the node holds, and closes the state. */
  stop(): Promise<void>;
}

export interface MainStateDeps extends Pick<MembershipDeps, "report" | "onLost"> {
  readonly common: Pick<Common, "config" | "log" | "clock">;
  readonly nodeId: string;
  /** See `notSetUpReason`. */
  readonly isSetUp: boolean;
  readonly signals: NodeSignals;
}
