// closed loop raw sockets, 32 connections
import { connect } from "bun";
const [port, path, secs] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4] ?? 3)];
const req = `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n`;
let n = 0; let bad = 0; const end = Date.now() + secs * 1000;
const marker = Buffer.from("HTTP/1.1 200");
const conns = await Promise.all(Array.from({ length: 32 }, () => connect({ hostname: "127.0.0.1", port, socket: { data(s, d) { if (d.indexOf(marker) === 0) n++; else bad++; if (Date.now() < end) s.write(req); else s.end(); } } })));
const t = performance.now(); for (const c of conns) c.write(req);
await Bun.sleep(secs * 1000 + 100);
console.log(path, Math.round(n / secs), "req/s", bad ? `bad ${bad}` : "");
process.exit(0);
