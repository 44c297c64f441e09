/** Processes that do the same work at the same time, in rounds. */
export interface Racers extends AsyncDisposable {
  /** Starts a round in all processes at once, each with its input. Resolves with their results. */
  round<Result>(inputs: readonly unknown[]): Promise<Result[]>;
}

/** Starts processes of `script`, which calls `serveRounds`. */
export async function startRacers(script: string, args: readonly string[], count: number): Promise<Racers> {
  const children = Array.from({ length: count }, () => {
    const child = Bun.spawn([process.execPath, script, ...args], { stdin: "pipe", stdout: "pipe" });
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    return {
      child,
      async line(): Promise<string> {
        while (!text.includes("\n")) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`${script} ended with ${await child.exited}`);
          text += value;
        }
        const [line = ""] = text.split("\n", 1);
        text = text.slice(line.length + 1);
        return line;
      },
    };
  });
  await Promise.all(children.map(({ line }) => line()));
  return {
    async round<Result>(inputs: readonly unknown[]) {
      for (const [at, { child }] of children.entries()) {
        child.stdin.write(`${JSON.stringify(inputs[at])}\n`);
        child.stdin.flush();
      }
      return Promise.all(children.map(async ({ line }) => JSON.parse(await line()) as Result));
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of children) child.kill();
      await Promise.all(children.map(({ child }) => child.exited));
    },
  };
}

/** In a process of `startRacers`: runs `work` for each round and prints its result. */
export async function serveRounds<Input>(work: (input: Input) => Promise<unknown>): Promise<void> {
  process.stdout.write("ready\n");
  for await (const line of console) {
    process.stdout.write(`${JSON.stringify((await work(JSON.parse(line))) ?? null)}\n`);
  }
}
