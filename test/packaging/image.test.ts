import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledFile } from "../support/compiled-program.ts";
import { mayOverlay, runInOverlay } from "./overlay.ts";

const ROOT = join(import.meta.dir, "../..");
const dockerfile = await Bun.file(join(ROOT, "Dockerfile")).text();

/** The instructions of the last stage, as `[name, rest]`. */
function finalStage(): [string, string][] {
  const lines = dockerfile.replaceAll("\\\n", " ").split("\n");
  const from = lines.findLastIndex((line) => line.startsWith("FROM "));
  return lines
    .slice(from)
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", ...rest] = line.split(" ");
      return [name, rest.join(" ")];
    });
}

/** Who the program runs as, unless a platform says otherwise. */
const user = () => /^ARG RUN_AS=(\S+)$/m.exec(dockerfile)?.[1];

const argumentsOf = (name: string) => finalStage().find(([instruction]) => instruction === name)?.[1] ?? "";

const canRun = process.platform === "linux" && (await mayOverlay());

describe("the container image", () => {
  test("is empty but for the program and its root, and does not run as root", () => {
    expect(argumentsOf("FROM")).toBe("scratch");
    expect([argumentsOf("USER"), user()]).toEqual(["$RUN_AS", "65532:65532"]);
    expect(
      finalStage()
        .filter(([name]) => name === "COPY")
        .map(([, rest]) => rest.split(" ").at(-1)),
    ).toEqual(["/", "/usr/bin/svc"]);
    // An array needs no shell, and the image has none.
    for (const name of ["ENTRYPOINT", "CMD"]) expect(JSON.parse(argumentsOf(name))).toBeArray();
    expect(argumentsOf("HEALTHCHECK")).toContain('CMD ["/usr/bin/svc", "healthcheck"]');
  });

  test.skipIf(!canRun)(
    "has all that the program needs: it serves from only that root, without privileges",
    async () => {
      const root = mkdtempSync(join(tmpdir(), "svc-image-"));
      const environment = argumentsOf("ENV").replace(/SVC_HTTP_HOST=\S+|SVC_HUB_HOST=\S+/g, "");
      const command = [...JSON.parse(argumentsOf("ENTRYPOINT")), ...JSON.parse(argumentsOf("CMD"))].join(" ");
      try {
        const { out } = await runInOverlay(
          `${ROOT}/packaging/image-root.sh ${root}/image
touch ${root}/image/usr/bin/svc; mount --bind ${compiledFile} ${root}/image/usr/bin/svc
mkdir ${root}/image/proc ${root}/image/dev
mount --bind /proc ${root}/image/proc; mount --bind /dev ${root}/image/dev
inside="chroot --userspec=${user()} ${root}/image"
touch ${root}/out
env -i "PATH=$PATH" ${environment} SVC_HTTP_PORT=0 SVC_HUB_PORT=0 $inside ${command} > ${root}/out 2> ${root}/log & pid=$!
for i in $(seq 100); do
  url=$(sed -n 's/.*"api":"\\([^"]*\\)".*/\\1/p' ${root}/out)
  if [ -n "$url" ]; then break; fi
  sleep 0.1
done
env -i "PATH=$PATH" $inside /usr/bin/svc healthcheck "\${url%/v2/svc}"
kill -TERM $pid; wait $pid; echo "stopped $?"`,
          root,
        );
        expect(out.trim().split("\n")).toEqual(['200 {"status":"ready","set_up":false}', "stopped 0"]);
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    },
    60_000,
  );
});
