import { Connection } from "../../../bench/open-loop.ts";

/** A GET request of a page. */
export interface LoadedPath {
  /** With the query, from the root of the node. */
  readonly path: string;
  readonly accept: string;
}

/** What a browser asks of a node when it opens a page for the first time. */
export interface FirstLoad {
  /** One after the other: the document, what it names, what its scripts ask. Those of one step are sent at once. */
  readonly steps: readonly (readonly LoadedPath[])[];
  /** An event stream, opened with the last step. It ends with the visit. */
  readonly stream: LoadedPath | undefined;
}

export const EVENT_STREAM = "text/event-stream";

/** Splits the requests of a page, in their order, into the steps of a first load. */
export function firstLoadOf(requests: readonly LoadedPath[]): FirstLoad {
  const [page, ...others] = requests;
  const isAsset = ({ path }: LoadedPath) => path.startsWith("/console/a/");
  const isStream = ({ accept }: LoadedPath) => accept === EVENT_STREAM;
  const asked = others.filter((one) => !isAsset(one) && !isStream(one));
  return { steps: [page ? [page] : [], others.filter(isAsset), asked], stream: others.find(isStream) };
}

/**
 * Loads a page as a visitor who then leaves: with connections of its own, which the steps share as a browser does. Resolves to whether
 * each response was 200.
 */
export async function loadOnce(
  { hostname, port }: Pick<URL, "hostname" | "port">,
  { steps, stream }: FirstLoad,
): Promise<boolean> {
  const idle: Connection[] = [];
  const opened: Connection[] = [];
  const answers = new Map<Connection, (ok: boolean) => void>();
  const onEnd = (connection: Connection, ok: boolean) => {
    idle.push(connection);
    answers.get(connection)?.(ok);
  };
  const send = async ({ path, accept }: LoadedPath) => {
    const connection = idle.pop() ?? (await Connection.open({ hostname, port: Number(port) }, onEnd));
    if (!opened.includes(connection)) opened.push(connection);
    const answer = new Promise<boolean>((resolve) => answers.set(connection, resolve));
    connection.get(path, 0, `accept: ${accept}\r\naccept-encoding: gzip, br\r\n`);
    return answer;
  };
  try {
    let ok = true;
    for (const [step, requests] of steps.entries()) {
      // Its response ends with the connection.
      if (stream && step === steps.length - 1) void send(stream);
      const answered = await Promise.all(requests.map(send));
      ok &&= answered.every((one) => one);
    }
    return ok;
  } finally {
    for (const connection of opened) connection.close();
  }
}
