import type { Random } from "../../../src/demo/random.ts";
import type { TestCluster } from "../../support/cluster.ts";
import type { Fleet } from "./fleet.ts";

/** What the clients of the nodes share. */
export interface ClientContext {
  readonly cluster: TestCluster;
  readonly fleet: Fleet;
  readonly random: Random;
}

/** A kind of request that is sent for as long as faults happen, with a model of what must be there afterwards. */
export interface Client {
  /** Requests whose success is certain. */
  readonly done: number;
  /** Requests of which nothing is certain. */
  readonly unknown: number;
  /** Sends the next one, or a few. */
  step(): Promise<void>;
  /** What of the model does not hold, once nothing is under way. */
  verify(): Promise<readonly string[]>;
}

/** Runs the steps of a client until it is stopped. */
export function keepStepping(client: Client, pauseMs: () => number): { stop(): Promise<void> } {
  let isOver = false;
  const stepping = (async () => {
    while (!isOver) {
      await client.step();
      await Bun.sleep(pauseMs());
    }
  })();
  return {
    async stop() {
      isOver = true;
      await stepping;
    },
  };
}
