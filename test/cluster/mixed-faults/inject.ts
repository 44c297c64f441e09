import type { Random } from "../../../src/demo/random.ts";
import type { TestCluster } from "../../support/cluster.ts";
import type { PostgresServer } from "../../support/postgres/server.ts";
import type { Fleet, FleetNode } from "./fleet.ts";

type NodeFault = "kill" | "stop";
type ServerFault = "kill" | "restart" | "freeze" | "cut" | "lost answer";

/** How often each fault happens, and how long it lasts. */
export interface FaultPlan {
  /** Of nodes: two of them have one at a time. */
  readonly nodes: Readonly<Record<NodeFault, number>>;
  readonly server: Readonly<Record<ServerFault, number>>;
  readonly stoppedMs: number;
  readonly frozenMs: number;
  readonly cutMs: number;
  /** The longest time between two faults, and that a killed server is away. */
  readonly pauseMs: number;
  /** Whether the lease of a killed node ends at once instead of after 8 seconds. */
  readonly endsLeases: boolean;
}

export interface FaultTargets {
  readonly cluster: TestCluster;
  readonly server: PostgresServer;
  readonly fleet: Fleet;
  readonly random: Random;
}

/** Lets the faults of a plan happen in random order, those of nodes beside those of the server. Returns what happened when. */
export async function injectFaults(targets: FaultTargets, plan: FaultPlan): Promise<string[]> {
  const { cluster, server, fleet, random } = targets;
  const startedAtMs = Date.now();
  const happened: string[] = [];
  const note = (what: string) =>
    happened.push(`${((Date.now() - startedAtMs) / 1000).toFixed(1)} s: ${what}`);
  const pause = () => Bun.sleep(random.next() * plan.pauseMs);
  const orderOf = <Fault extends string>(counts: Readonly<Record<Fault, number>>) =>
    random.shuffled(
      Object.entries<number>(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault)),
    );
  const nodeFaults = orderOf(plan.nodes);
  const serverFaults = orderOf(plan.server);

  async function strikeNode(node: FleetNode, fault: NodeFault): Promise<void> {
    note(`${fault} ${node.name}`);
    if (fault === "stop") {
      fleet.stop(node);
      await Bun.sleep(plan.stoppedMs);
      fleet.wake(node);
      return;
    }
    await fleet.kill(node);
    const endLease = `UPDATE svc.nodes SET ends_at_ms = 0 WHERE node_id = '${node.name}'`;
    // The server may be away, too.
    if (plan.endsLeases) await cluster.database.query(endLease).catch(() => undefined);
    await fleet.start(node);
    note(`${node.name} is back`);
  }

  async function strikeNodes(): Promise<void> {
    for (let fault = nodeFaults.pop(); fault; fault = nodeFaults.pop()) {
      const node = random.pick(fleet.nodes.filter(({ isTaken }) => !isTaken));
      node.isTaken = true;
      await strikeNode(node, fault);
      node.isTaken = false;
      await pause();
    }
  }

  const strike: Readonly<Record<ServerFault, () => Promise<void>>> = {
    async kill() {
      await server.kill();
      await pause();
      await server.restart();
    },
    async restart() {
      server.stop();
      await server.restart();
    },
    async freeze() {
      server.freeze();
      await Bun.sleep(plan.frozenMs);
      server.thaw();
    },
    async cut() {
      const { proxy, name } = random.pick(fleet.nodes);
      note(`${name} is cut off`);
      if (random.chance(0.5)) proxy.cut();
      else proxy.freeze();
      await Bun.sleep(plan.cutMs);
      proxy.heal();
    },
    async "lost answer"() {
      const lost = random.pick(fleet.nodes).proxy.loseAnswer(/^(COMMIT|INSERT 0 1|UPDATE 1|SELECT 1)$/);
      await Promise.race([lost, Bun.sleep(plan.cutMs)]);
    },
  };

  async function strikeServer(): Promise<void> {
    for (const fault of serverFaults) {
      await pause();
      note(`PostgreSQL: ${fault}`);
      await strike[fault]();
      note("PostgreSQL is back");
    }
  }

  await Promise.all([strikeNodes(), strikeNodes(), strikeServer()]);
  return happened;
}
