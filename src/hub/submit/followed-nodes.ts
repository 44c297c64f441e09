import type { Client } from "@grpc/grpc-js";
import { connectUpstream } from "../../upstream/calls/connection.ts";
import type { EndpointStatus } from "../../upstream/peers/endpoints/endpoint-status.ts";
import type { SubmitTarget } from "./write-through.ts";

/** Between two looks at the state of the nodes. */
const LOOK_MS = 2000;

/** Connections to the followed nodes for what clients submit and for the blocks that are passed on. */
export type FollowedNodes = ReturnType<typeof connectFollowedNodes>;

export interface FollowedNodesDeps {
  /** From the settings, at least one. */
  readonly urls: readonly string[];
  readonly contact: string;
  /** How the follower finds the nodes. Not called for a single one. */
  readonly states: () => Promise<readonly EndpointStatus[]>;
}

export function connectFollowedNodes({ urls, contact, states }: FollowedNodesDeps) {
  const clients = urls.map((url) => connectUpstream(url, { contact }));
  const [only] = clients;
  if (!only) throw new Error("no node is followed");
  let known: readonly EndpointStatus[] = [];
  const look = () =>
    states().then(
      (found) => {
        known = found;
      },
      // A worker that does not respond is reported by the watch of the upstream.
      () => {},
    );
  const timer = clients.length > 1 ? setInterval(look, LOOK_MS) : undefined;
  if (timer) void look();
  const clientOf = (status: EndpointStatus | undefined) => (status && clients[status.position - 1]) ?? only;
  return {
    /** The first node of the settings that is well. */
    first(): SubmitTarget {
      const client = clientOf(
        known.find(({ state }) => state === "ok") ?? known.find(({ state }) => state === "lagging"),
      );
      return { client, isFirst: client === only };
    },
    /** The node that blocks are read from at the moment. */
    active: (): Client => clientOf(known.find(({ isActive }) => isActive)),
    close(): void {
      clearInterval(timer);
      for (const client of clients) client.close();
    },
  };
}
