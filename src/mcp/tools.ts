import type { Tool } from "./tool.ts";
import { castTools } from "./tools/casts.ts";
import { channelTools } from "./tools/channels.ts";
import { nodeTools } from "./tools/node.ts";
import { notificationTools } from "./tools/notifications.ts";
import { userTools } from "./tools/users.ts";
import { writeTools } from "./tools/writes.ts";

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  ...userTools,
  ...castTools,
  ...notificationTools,
  ...channelTools,
  ...nodeTools,
  ...writeTools,
];
