import type { Faults } from "./faults.ts";

/** Sees what the upstream is asked by one process; nothing goes wrong on the upstream's side. */
export class Watch implements Faults {
  calls = 0;
  polls = 0;
  #waiting: (() => void)[] = [];

  onCall(method: string) {
    this.calls += 1;
    if (method === "GetBlocks") this.polls += 1;
    this.#look();
    return undefined;
  }

  onDelivery() {
    return undefined;
  }

  /** Another process begins. */
  reset(): void {
    this.calls = 0;
    this.polls = 0;
  }

  /** Resolves when `isOver` says so, which is asked at each call; rejects when the process ends before. */
  async until(exited: Promise<number>, isOver: () => boolean): Promise<void> {
    let exitCode: number | undefined;
    void exited.then((code) => {
      exitCode = code;
      this.#look();
    });
    while (!isOver()) {
      if (exitCode !== undefined) throw new Error(`the process ended by itself with ${exitCode}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #look(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
