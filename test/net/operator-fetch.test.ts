import { describe, expect, test } from "bun:test";
import { createOperatorFetch, noResponseReason } from "../../src/net/operator-fetch.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { withProxy } from "../support/proxy.ts";
import { startRawReceiver, startReceiver } from "../support/receiver.ts";

describe("createOperatorFetch", () => {
  test("calls the endpoint, also on this machine, and no other origin", async () => {
    await using endpoint = startReceiver();
    await using other = startRawReceiver((socket) => socket.end());
    const operatorFetch = createOperatorFetch(`http://127.0.0.1:${endpoint.port}/rpc?key=1`);
    const response = await operatorFetch(`http://127.0.0.1:${endpoint.port}/rpc`, {
      method: "POST",
      body: "{}",
    });
    expect(await response.text()).toBe("ok");
    expect(endpoint.requests[0]).toMatchObject({ method: "POST", path: "/rpc", body: "{}" });
    for (const url of [`http://127.0.0.1:${other.port}/`, `http://localhost:${endpoint.port}/`]) {
      await expect(operatorFetch(url)).rejects.toThrow("only the endpoint of the settings");
      await expect(operatorFetch(new Request(url))).rejects.toThrow("only the endpoint of the settings");
    }
    expect(other.connections).toBe(0);
  });

  test("does not follow a redirect", async () => {
    await using other = startRawReceiver((socket) => socket.end());
    await using endpoint = startReceiver({
      respond: () => Response.redirect(`http://127.0.0.1:${other.port}/`, 307),
    });
    const url = `http://127.0.0.1:${endpoint.port}/`;
    await expect(createOperatorFetch(url)(url, { redirect: "follow" })).rejects.toThrow();
    expect(other.connections).toBe(0);
  });

  test("does not go through a proxy of the environment", async () => {
    let asked = "";
    await using proxy = startRawReceiver((socket, bytes) => {
      asked += bytes.toString();
      socket.end();
    });
    await using endpoint = startReceiver();
    const url = `http://127.0.0.1:${endpoint.port}/`;
    await withProxy(`http://127.0.0.1:${proxy.port}`, async () => {
      expect((await createOperatorFetch(url)(url)).status).toBe(200);
    });
    // Another client in this process may have used it.
    expect(asked).not.toContain(url);
  });
});

describe("noResponseReason", () => {
  const reasonAt = async (url: string, signal?: AbortSignal) => {
    const cause = await fetch(url, { signal, proxy: false }).then(
      () => undefined,
      (error: unknown) => error,
    );
    return noResponseReason(new URL(url), cause);
  };

  test("names the origin, and the path unless it is the root, and what happened", async () => {
    await using closing = startRawReceiver((socket) => socket.end());
    await using garbling = startRawReceiver((socket) => socket.end("220 mail.example ESMTP\r\n"));
    await using silent = startRawReceiver(() => {});
    const origin = `http://127.0.0.1:${closing.port}`;
    const closed = "closed the connection without a response";
    expect(await reasonAt(`${origin}/`)).toBe(`${origin} ${closed}`);
    expect(await reasonAt(`${origin}/v1/info?key=1`)).toBe(`${origin}/v1/info ${closed}`);
    const other = `http://127.0.0.1:${garbling.port}`;
    expect(await reasonAt(`${other}/v1/info`)).toBe(`what listens at ${other} does not speak HTTP`);
    const slow = `http://127.0.0.1:${silent.port}/v1/info`;
    expect(await reasonAt(slow, AbortSignal.timeout(1))).toBe(`${slow} did not respond in time`);
    expect(await reasonAt(slow, AbortSignal.abort(new Error("stopped")))).toBe(
      `${slow} did not respond: stopped`,
    );
  });

  test("says how to start a node if none listens", async () => {
    const origin = `http://127.0.0.1:${CLOSED_PORT}`;
    expect(await reasonAt(`${origin}/v1/info`)).toStartWith(`no node listens at ${origin}: start one with `);
  });
});
