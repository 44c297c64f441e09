/**
 * Readers of the event stream in a separate process (`bun bench/processes/stream-readers.ts <url> <file>`): one for each
 * query in the lines of the file, alternately over server-sent events and over a WebSocket. Prints a line when all are open,
 * then `<number> <Unix milliseconds>` for each received cast whose text starts with `Message <number>`.
 */
import { connect } from "node:net";

const [address = "", file = ""] = process.argv.slice(2);
const { port, host } = new URL(address);
const queries = (await Bun.file(file).text()).split("\n");

function note(text: string): void {
  const number = /"text":"Message (\d+)/.exec(text)?.[1];
  if (number !== undefined) process.stdout.write(`${number} ${performance.timeOrigin + performance.now()}\n`);
}

function overEvents(query: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1");
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("error", reject);
    socket.on("data", (text) => {
      const frames = (rest + text).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        if (frame.includes("event: hello")) resolve();
        else note(frame);
      }
    });
    socket.write(`GET /v2/svc/stream?${query} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  });
}

function overWebSocket(query: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${host}/v2/svc/stream?${query}`);
    socket.onerror = () => reject(new Error(`no WebSocket for ${query}`));
    socket.onmessage = ({ data }) => {
      if (String(data).includes('"event":"hello"')) resolve();
      else note(String(data));
    };
  });
}

const AT_ONCE = 20;
for (let at = 0; at < queries.length; at += AT_ONCE) {
  const some = queries.slice(at, at + AT_ONCE);
  await Promise.all(some.map((query, one) => (one % 2 === 0 ? overEvents(query) : overWebSocket(query))));
}
process.stdout.write("open\n");
