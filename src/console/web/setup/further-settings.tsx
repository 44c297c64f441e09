import type { SetUpWish } from "../../setup/set-up.ts";
import { Field } from "../parts/form.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/tools/setup.ts";

/** The input for where users reach the node, and for its backups. */
export interface FurtherTexts {
  readonly publicUrl: string;
  readonly backupDir: string;
  readonly backupAt: string;
}

export const NO_FURTHER: FurtherTexts = { publicUrl: "", backupDir: "", backupAt: "" };

/** Returns the entered settings, or what is wrong with them by field. */
export function furtherOf(texts: FurtherTexts): {
  readonly settings: NonNullable<SetUpWish["settings"]>;
  readonly problems: Partial<Readonly<Record<keyof FurtherTexts, string>>>;
} {
  const publicUrl = texts.publicUrl.trim().replace(/\/+$/, "");
  const [backupDir, backupAt] = [texts.backupDir.trim(), texts.backupAt.trim()];
  return {
    settings: {
      ...(publicUrl !== "" && { "service.public_url": publicUrl }),
      ...(backupDir !== "" && { "backup.dir": backupDir }),
      ...(backupAt !== "" && { "backup.at": backupAt }),
    },
    problems: {
      ...(publicUrl !== "" && !/^https?:\/\/[^\s?#]+$/.test(publicUrl) && { publicUrl: msg.anHttpUrl }),
      ...(backupAt !== "" && backupDir === "" && { backupAt: msg.aDirectoryFirst }),
      ...(backupAt !== "" && !/^([01]\d|2[0-3]):[0-5]\d$/.test(backupAt) && { backupAt: msg.aTimeOfDay }),
    },
  };
}

export function FurtherSettings(props: {
  texts: FurtherTexts;
  problems: ReturnType<typeof furtherOf>["problems"];
  onChange: (change: Partial<FurtherTexts>) => void;
}) {
  const { texts, problems, onChange } = props;
  return (
    <Card title={msg.publicUrlAndBackups}>
      <Field
        label={msg.publicUrl}
        name="public-url"
        type="url"
        value={texts.publicUrl}
        hint={msg.publicUrlHint}
        problem={problems.publicUrl}
        onInput={(publicUrl) => onChange({ publicUrl })}
      />
      <Field
        label={msg.backupDirectory}
        name="backup-dir"
        value={texts.backupDir}
        hint={msg.backupDirectoryHint}
        onInput={(backupDir) => onChange({ backupDir })}
      />
      <Field
        label={msg.backupTime}
        name="backup-at"
        value={texts.backupAt}
        hint={msg.backupTimeHint}
        problem={problems.backupAt}
        onInput={(backupAt) => onChange({ backupAt })}
      />
    </Card>
  );
}
