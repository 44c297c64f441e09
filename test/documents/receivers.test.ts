import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openDeliveryBench, secretOf } from "../support/deliveries.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { documentExample, ROOT } from "../support/documents.ts";
import { tempDir } from "../support/program.ts";

/** A receiver of docs/webhooks.md, and the commands that build and run it. */
interface DocumentedReceiver {
  readonly language: string;
  readonly tool: string;
  readonly file: string;
  readonly code: string;
  /** The port in the example. */
  readonly port: string;
  readonly build?: readonly string[];
  readonly run: readonly string[];
}

const receivers: readonly DocumentedReceiver[] = [
  {
    language: "TypeScript",
    tool: process.execPath,
    file: "receiver.ts",
    code: documentExample("receiver in TypeScript"),
    port: "port: 9300",
    run: [process.execPath, "receiver.ts"],
  },
  {
    language: "Python",
    tool: "python3",
    file: "receiver.py",
    code: documentExample("receiver in Python"),
    port: "9301",
    run: ["python3", "receiver.py"],
  },
  {
    language: "Go",
    tool: "go",
    file: "receiver.go",
    code: documentExample("receiver in Go"),
    port: "9302",
    build: ["go", "build", "-o", "receiver", "receiver.go"],
    run: ["./receiver"],
  },
];

const BODY = '{"created_at":1,"type":"cast.created","data":{"text":"Grüße 🎈"}}';

/** Yields the lines of a stream one by one, independent of how the writes were split. */
function lineReader(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let unread = "";
  return async () => {
    while (!unread.includes("\n")) {
      const part = await reader.read();
      if (part.done) throw new Error(`the receiver ended after ${unread}`);
      unread += decoder.decode(part.value, { stream: true });
    }
    const [line = ""] = unread.split("\n", 1);
    unread = unread.slice(line.length + 1);
    return line;
  };
}

/** Returns the first line of the response to a body of a negative length, which a receiver must not read to its end. */
async function statusOfNegativeLength(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => resolve(bytes.toString().split("\r\n", 1)[0] ?? ""),
      close: () => reject(new Error("closed without a response")),
    },
  });
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}");
  try {
    return await promise;
  } finally {
    socket.end();
  }
}

for (const { language, tool, file, code, port, build, run } of receivers) {
  describe.skipIf(Bun.which(tool) === null)(`the documented receiver in ${language}`, () => {
    const dir = tempDir();
    // Compilers use the machine's default caches.
    const env = { ...process.env, ...exampleEnv(process.env.HOME ?? dir.path) };
    beforeAll(async () => {
      expect(code).toContain(port);
      await Bun.write(`${dir.path}/${file}`, code.replace(port, port.replace(/\d+/, "0")));
      if (!build) return;
      const built = Bun.spawnSync([...build], { cwd: dir.path, env });
      expect([built.exitCode, built.stderr.toString()]).toEqual([0, ""]);
    }, 240_000);
    afterAll(() => dir[Symbol.dispose]());

    /** Starts the receiver with a secret. */
    async function start(secret: string) {
      const child = Bun.spawn([...run], {
        cwd: dir.path,
        env: { ...env, WEBHOOK_SECRET: secret },
        stdout: "pipe",
        stderr: "inherit",
      });
      const readLine = lineReader(child.stdout);
      const url = /http\S+/.exec(await readLine())?.[0] ?? "";
      return { readLine, port: Number(new URL(url).port), [Symbol.dispose]: () => child.kill() };
    }

    test("is the one of examples/webhook-receiver", async () => {
      expect(await Bun.file(join(ROOT, "examples/webhook-receiver", file)).text()).toBe(`${code}\n`);
    });

    test("accepts a genuine delivery", async () => {
      await using bench = openDeliveryBench();
      await bench.start();
      using receiver = await start(secretOf("a").value);
      expect(await statusOfNegativeLength(receiver.port)).toMatch(/^HTTP\/1\.[01] 4\d\d /);
      await bench.publish([await bench.addWebhook("a", receiver.port)], BODY);
      await bench.settled("a", 1);
      expect(await receiver.readLine()).toBe("cast.created Grüße 🎈");
    });

    test("returns 401 when the delivery is signed with another secret", async () => {
      await using bench = openDeliveryBench();
      await bench.start();
      using receiver = await start(secretOf("a").value);
      await bench.publish([await bench.addWebhook("b", receiver.port)], BODY);
      await bench.settled("b", 1, "failed");
      expect((await bench.list("b"))[0]?.attempts[0]).toMatchObject({ status: 401 });
    });
  });
}
