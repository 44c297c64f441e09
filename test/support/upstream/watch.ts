import type { Faults } from "./faults.ts";

/** Observes the calls of one process to the upstream, without faults. */
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

  /** Starts observing another process. */
  reset(): void {
    this.calls = 0;
    this.polls = 0;
  }

  /** Resolves when `isOver`, evaluated at each call, returns true. Rejects if the process ends before. */
  async until(exited: Promise<number>, isOver: () => boolean): Promise<void> {
    let exitCode: number | undefined;
    void exited.then((code) => {
      exitCode = code;
      this.#look();
    });
    while (!isOver()) {
      if (exitCode !== undefined) throw new Error(`the process exited with ${exitCode}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #look(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
