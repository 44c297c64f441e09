import { describe, expect, test } from "bun:test";
import { createOperatorFetch } from "../../src/net/operator-fetch.ts";
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
