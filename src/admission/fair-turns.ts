import type { TurnTerms } from "./budgets.ts";

interface Waiting {
  readonly start: () => void;
  readonly refuse: () => void;
}

interface ClientTurns {
  running: number;
  readonly waiting: Waiting[];
  /** The number of its last turn. */
  lastTurn: number;
}

type Limits = Pick<TurnTerms, "running" | "waiting" | "perClient">;

/**
 * Runs a bounded number of tasks at a time and queues a bounded number of others. A free turn goes to the waiting client with the fewest
 * running tasks, and among those to the one whose last turn is longest ago. Tasks of one client run in order. If the queue is full, a
 * client with fewer waiting tasks displaces the last task of the client with the most.
 */
export class FairTurns {
  readonly #limits: Limits;
  /** Clients with running or waiting tasks. */
  readonly #clients = new Map<string, ClientTurns>();
  #running = 0;
  #waiting = 0;
  #turns = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Runs a task in its client's turn. Resolves with undefined, without running it, if too many tasks wait. */
  async run<T>(client: string, task: () => Promise<T>): Promise<T | undefined> {
    const turns = this.#turnsOf(client);
    if (this.#mayRun(turns)) this.#begin(turns);
    else if (!(await this.#wait(turns))) {
      this.#forget(client, turns);
      return undefined;
    }
    try {
      return await task();
    } finally {
      this.#running -= 1;
      turns.running -= 1;
      this.#forget(client, turns);
      this.#startNext();
    }
  }

  #turnsOf(client: string): ClientTurns {
    let turns = this.#clients.get(client);
    if (turns === undefined) {
      // After the clients that wait already.
      turns = { running: 0, waiting: [], lastTurn: this.#turns };
      this.#clients.set(client, turns);
    }
    return turns;
  }

  #forget(client: string, turns: ClientTurns): void {
    if (turns.running === 0 && turns.waiting.length === 0) this.#clients.delete(client);
  }

  #mayRun({ running }: ClientTurns): boolean {
    return this.#running < this.#limits.running && running < this.#limits.perClient.running;
  }

  #begin(turns: ClientTurns): void {
    this.#running += 1;
    turns.running += 1;
    this.#turns += 1;
    turns.lastTurn = this.#turns;
  }

  /** Resolves to whether the task gets its turn; false if it is displaced or the queue is full. */
  #wait(turns: ClientTurns): Promise<boolean> | false {
    const { waiting, perClient } = this.#limits;
    if (turns.waiting.length >= perClient.waiting) return false;
    if (this.#waiting >= waiting && !this.#makeRoomFor(turns)) return false;
    this.#waiting += 1;
    return new Promise((resolve) => {
      turns.waiting.push({ start: () => resolve(true), refuse: () => resolve(false) });
    });
  }

  #makeRoomFor(turns: ClientTurns): boolean {
    let longest = turns;
    for (const other of this.#clients.values())
      if (other.waiting.length > longest.waiting.length) longest = other;
    if (longest.waiting.length <= turns.waiting.length + 1) return false;
    longest.waiting.pop()?.refuse();
    this.#waiting -= 1;
    return true;
  }

  #startNext(): void {
    let next: ClientTurns | undefined;
    for (const turns of this.#clients.values()) {
      if (turns.waiting.length === 0 || !this.#mayRun(turns)) continue;
      if (next === undefined || compareTurns(turns, next) < 0) next = turns;
    }
    const started = next?.waiting.shift();
    if (next === undefined || started === undefined) return;
    this.#waiting -= 1;
    // Takes the turn now, so that a new task does not overtake this one.
    this.#begin(next);
    started.start();
  }
}

function compareTurns(a: ClientTurns, b: ClientTurns): number {
  return a.running - b.running || a.lastTurn - b.lastTurn;
}
