/**
 * The lower bound for a send: posts the bodies of a send with one loop per concurrent call, and reads the responses. For
 * each line of the input, a JSON array of URLs, prints the elapsed time in milliseconds.
 *
 * Usage: bare-posting.ts <tokens> <tokens per body> <concurrency>
 */
import { clientRequestBody } from "../../src/push/fan-out/post-batch.ts";

const [tokens = 0, perBody = 1, concurrency = 1] = process.argv.slice(2).map(Number);
const notification = {
  notificationId: crypto.randomUUID(),
  title: "Your move",
  body: "Mira took your rook.",
  targetUrl: "https://app.example/game/7",
};

async function postAll(urls: readonly string[]): Promise<void> {
  let next = 0;
  const loop = async () => {
    for (let from = perBody * next++; from < tokens; from = perBody * next++) {
      const texts = Array.from({ length: perBody }, (_, at) => `bare-0123456789abcdef-${from + at}`);
      const response = await fetch(urls[(from / perBody) % urls.length] ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: clientRequestBody(notification, JSON.stringify(texts)),
      });
      await response.json();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

for await (const line of console) {
  const urls: string[] = JSON.parse(line);
  const startedAt = performance.now();
  await postAll(urls);
  process.stdout.write(`${performance.now() - startedAt}\n`);
}
