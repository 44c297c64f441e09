import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

/** `upstream estimate`: the size and time of following the upstream, before it starts. */
export function registerUpstream(program: Command, context: CommandContext): void {
  const upstream = program.command("upstream").description("query the followed node");

  upstream
    .command("estimate")
    .description("estimate size and time of filling the index from the upstream, from a sample of its fids")
    .option("--json", "print a JSON object")
    .action(async ({ json = false }: { json?: boolean }) => {
      const { availableParallelism } = await import("node:os");
      const { createCommon, runTask } = await import("../common.ts");
      const { followedFids } = await import("../../config/files/fid-file.ts");
      const { RetryableError, reasonOf, UserError } = await import("../../lib/failure.ts");
      const { networkOf } = await import("../../protocol/network/network.ts");
      const { isFollowing } = await import("../../config/upstream-urls.ts");
      const { openUpstream } = await import("../../upstream/peers/open-upstream.ts");
      const { estimateUpstream } = await import("../../upstream/verify/estimate-upstream.ts");
      const { formatUpstreamEstimate } = await import("./records/estimate-text.ts");
      const common = createCommon(context);
      const { config, shutdown } = common;
      if (!isFollowing(config)) throw new UserError("upstream.url is empty, so there is no node to ask");
      context.exitCode = await runTask(common, async () => {
        const upstream = await openUpstream(config, shutdown.signal);
        shutdown.add("upstream", () => upstream[Symbol.dispose]());
        const { client } = upstream;
        const { concurrency } = upstream.limits;
        try {
          const cores = availableParallelism();
          const network = networkOf(config.protocol.network);
          const estimate = await estimateUpstream(
            { client, network, cores, concurrency },
            followedFids(config.upstream),
          );
          const text = () => formatUpstreamEstimate(estimate, cores);
          print(json ? `${JSON.stringify(estimate, null, 2)}\n` : text());
        } catch (cause) {
          shutdown.signal.throwIfAborted();
          throw new RetryableError(`the upstream cannot be queried: ${reasonOf(cause)}`, { cause });
        }
      });
    });
}
