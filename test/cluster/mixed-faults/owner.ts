import { callSigned, signedRequest } from "../../support/cluster.ts";
import { makeWallet } from "../../support/messages.ts";
import { type Method, signedHeaders } from "../../support/signing.ts";
import type { Client, ClientContext } from "./client.ts";
import type { Answer } from "./fleet.ts";

const RESENDS = 2;

/** The descriptions that an app may have; null: it may not be there. */
type Possible = Set<string | null>;

/** An owner who creates, changes and deletes apps with signed operations. An operation without a response is sent again as it is. */
export function createOwner({ fleet, random }: ClientContext, fid: number): Client {
  const apps = new Map<string, Possible>();
  let current: { readonly name: string; readonly appId: string } | undefined;
  let made = 0;
  let done = 0;
  let unknown = 0;

  /** Sends a signed request until it has a response. One that says that its nonce is spent may have been done before. */
  async function operate(method: Method, path: string, body?: object): Promise<Answer> {
    const send = await signedRequest(fid, method, path, body);
    let answer = await fleet.ask(send);
    let wasUnknown = answer.outcome === "unknown";
    for (let resend = 0; answer.outcome === "unknown" && resend < RESENDS; resend++)
      answer = await fleet.ask(send);
    if (answer.outcome === "done") done += 1;
    wasUnknown &&= answer.outcome !== "done";
    if (!wasUnknown) return answer;
    unknown += 1;
    return { ...answer, outcome: "unknown" };
  }

  /** After an operation without a response, nothing more is done to that app: it may happen later. */
  function settle(name: string, { outcome }: Answer, value: string | null): void {
    const possible: Possible = apps.get(name) ?? new Set([null]);
    if (outcome === "done") apps.set(name, new Set([value]));
    else if (outcome === "unknown") apps.set(name, possible.add(value));
    else apps.set(name, possible);
    if (outcome === "unknown" || value === null) current = undefined;
  }

  async function create(): Promise<void> {
    const name = `app ${made++}`;
    const app = { name, app_url: "https://127.0.0.1", description: "new" };
    const answer = await operate("POST", "/frame/app", app);
    settle(name, answer, "new");
    if (answer.outcome === "done") current = { name, appId: answer.body.app.app_id };
  }

  /** A request that somebody else signed. */
  async function forge(): Promise<void> {
    const name = `forged ${made++}`;
    const body = JSON.stringify({ name, app_url: "https://127.0.0.1" });
    const headers = await signedHeaders({
      method: "POST",
      path: "/frame/app",
      fid,
      signedAt: Math.floor(Date.now() / 1000),
      body,
      wallet: makeWallet("a stranger"),
    });
    const url = "/v2/svc/frame/app";
    apps.set(name, new Set([null]));
    await fleet.ask((node) => fetch(node.url + url, { method: "POST", headers, body, keepalive: false }));
  }

  return {
    get done() {
      return done;
    },
    get unknown() {
      return unknown;
    },
    async step() {
      if (random.chance(0.1)) return forge();
      if (!current) return create();
      const { name, appId } = current;
      const path = `/frame/app?app_id=${appId}`;
      if (random.chance(0.2)) {
        settle(name, await operate("DELETE", path), null);
      } else {
        const description = `change ${made++}`;
        settle(name, await operate("PUT", "/frame/app", { app_id: appId, description }), description);
      }
    },
    async verify() {
      const [node] = fleet.nodes;
      if (!node?.running) return ["no node is up"];
      const { status, body } = await callSigned(node.running, fid, "GET", "/frame/app/list");
      if (status !== 200) return [`the apps of ${fid} cannot be read: ${status}`];
      const found = new Map<string, string | null>();
      const wrong: string[] = [];
      for (const { name, description } of body.apps as { name: string; description: string }[]) {
        if (found.has(name)) wrong.push(`${name} of ${fid} is there twice`);
        if (!apps.has(name)) wrong.push(`${name} of ${fid} was never sent`);
        found.set(name, description);
      }
      for (const [name, possible] of apps) {
        const value = found.get(name) ?? null;
        if (!possible.has(value))
          wrong.push(`${name} of ${fid} is ${value}, not ${[...possible].join(" or ")}`);
      }
      return wrong;
    },
  };
}
