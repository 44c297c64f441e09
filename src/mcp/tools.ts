import type { Tool } from "./tool.ts";
import { castTools } from "./tools/casts.ts";
import { channelTools } from "./tools/channels.ts";
import { nodeTools } from "./tools/node.ts";
import { notificationTools } from "./tools/notifications.ts";
import { userTools } from "./tools/users.ts";
import { writeTools } from "./tools/writes.ts";

/** Every tool, in the order of the list. */
export const TOOLS: readonly Tool[] = [
  ...userTools,
  ...castTools,
  ...notificationTools,
  ...channelTools,
  ...nodeTools,
  ...writeTools,
];
