import type { AddedApp } from "./phones.ts";

/** All people of the demo network. */
export const MAX_ADDED_PEOPLE = 200;
/** Reports that are under way at once: each is stored in a commit, which they share. */
const CONCURRENCY = 16;

export interface AddedApps {
  /** People whose report the node has taken. */
  readonly added: number;
  readonly clients: readonly { readonly client_fid: number; readonly added: number }[];
  /** The first refusal, in the node's words; null if there was none. */
  readonly refusal: string | null;
}

/** Sends the reports to the app's token webhook, as the clients of these people would. */
export async function addDemoApp(options: {
  readonly reports: readonly AddedApp[];
  readonly callNode: (request: Request) => Response | Promise<Response>;
  /** Of the token webhook. */
  readonly path: string;
}): Promise<AddedApps> {
  const { reports, callNode, path } = options;
  const added = new Map<number, number>();
  let refusal: string | null = null;
  const waiting = reports[Symbol.iterator]();
  const work = async () => {
    for (const { clientFid, envelope } of waiting) {
      if (refusal !== null) return;
      const body = JSON.stringify(envelope);
      const headers = {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
      };
      const response = await callNode(
        new Request(`http://localhost${path}`, { method: "POST", headers, body }),
      );
      if (response.ok) added.set(clientFid, (added.get(clientFid) ?? 0) + 1);
      else refusal ??= ((await response.json()) as { message: string }).message;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const clients = [...added].map(([client_fid, count]) => ({ client_fid, added: count }));
  return { added: clients.reduce((sum, client) => sum + client.added, 0), clients, refusal };
}
