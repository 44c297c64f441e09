import type { Check } from "./checks.ts";
import { ok, warn } from "./finding.ts";
import type { Synchronised } from "./kernel-clock.ts";

/** Whether something keeps the clock of this machine right. */
export const timeSourceCheck = (kernelClock: () => Synchronised): Check => ({
  name: "time source",
  run: async () => {
    switch (kernelClock()) {
      case "yes":
        return [ok("time source", "the kernel says that the clock is synchronised")];
      case "no":
        return [
          warn(
            "time source",
            "the kernel says that nothing synchronises the clock",
            "Start systemd-timesyncd or chrony, on the machine itself if this is a container",
          ),
        ];
      case "unknown":
        return [
          warn(
            "time source",
            "this system does not say whether the clock is synchronised",
            "See that a time daemon runs; the comparison with the followed node is under `clock`",
          ),
        ];
    }
  },
});
