import { dlopen, FFIType, ptr } from "bun:ffi";
import { describe, expect, test } from "bun:test";
import { createSupervisor, unixAddress } from "../../src/runtime/supervisor.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { startNode, tempDir } from "../support/program.ts";

const { i32, u32, u64, i64, ptr: pointer } = FFIType;
const MSG_DONTWAIT = 0x40;

/** A service manager: a datagram socket at a path. */
function startManager(path: string) {
  const { symbols, close } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, pointer, u32], returns: i32 },
    recv: { args: [i32, pointer, u64, i32], returns: i64 },
    close: { args: [i32], returns: i32 },
  });
  const address = unixAddress(path);
  if (address === undefined) throw new Error("the path is too long");
  const descriptor = symbols.socket(1, 2 | 0o2000000, 0);
  if (symbols.bind(descriptor, ptr(address), address.length) !== 0) throw new Error(`cannot bind ${path}`);
  const buffer = new Uint8Array(512);
  const take = () => {
    const length = Number(symbols.recv(descriptor, ptr(buffer), BigInt(buffer.length), MSG_DONTWAIT));
    return length < 0 ? undefined : new TextDecoder().decode(buffer.subarray(0, length));
  };
  return {
    take,
    /** Waits for the next datagram. */
    async next(): Promise<string> {
      for (;;) {
        const text = take();
        if (text !== undefined) return text;
        await Bun.sleep(5);
      }
    },
    [Symbol.dispose]() {
      symbols.close(descriptor);
      close();
    },
  };
}

describe.skipIf(process.platform !== "linux")("a service manager", () => {
  test("learns that the process is ready, in each half of the watchdog's period that it lives, and that it stops", async () => {
    using dir = tempDir();
    for (const socket of [`${dir.path}/notify`, `@svc-test-${process.pid}`]) {
      using manager = startManager(socket);
      const supervisor = createSupervisor({
        NOTIFY_SOCKET: socket,
        WATCHDOG_USEC: "40000",
        WATCHDOG_PID: `${process.pid}`,
      });
      expect(manager.take()).toBeUndefined();
      supervisor.ready();
      for (const expected of ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"])
        expect(await manager.next()).toBe(expected);
      supervisor.stop();
      while (manager.take() !== undefined);
      supervisor.stopping();
      expect(await manager.next()).toBe("STOPPING=1");
    }
  });

  test("does not get another process's signs of life, and an absent supervisor does no harm", async () => {
    using dir = tempDir();
    const path = `${dir.path}/notify`;
    {
      using manager = startManager(path);
      const supervisor = createSupervisor({ NOTIFY_SOCKET: path, WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" });
      supervisor.ready();
      expect(await manager.next()).toBe("READY=1");
      await Bun.sleep(20);
      expect(manager.take()).toBeUndefined();
    }
    for (const socket of [path, "", "relative", `/${"x".repeat(200)}`, undefined]) {
      const supervisor = createSupervisor({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: "1000" });
      supervisor.ready();
      supervisor.stopping();
      supervisor.stop();
    }
  });

  test("learns of a node once /health responds, and when it stops", async () => {
    using dir = tempDir();
    const path = `${dir.path}/notify`;
    using manager = startManager(path);
    const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "60000000" };
    await using node = await startNode({ command: compiledProgram, dataDir: `${dir.path}/data`, env });
    expect([await manager.next(), await manager.next()]).toEqual(["READY=1", "WATCHDOG=1"]);
    expect((await fetch(`${node.url}/health`)).status).toBe(200);
    await node.stop();
    expect(await manager.next()).toBe("STOPPING=1");
  });
});
