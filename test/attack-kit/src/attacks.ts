import type { Attack } from "./attack.ts";
import { ANSWERS_ITSELF } from "./attacks/answers-itself.ts";
import { CHANGES_MEMBERS } from "./attacks/changes-members.ts";
import { CHANGES_NAMES } from "./attacks/changes-names.ts";
import { DENIES_SERVICE } from "./attacks/denies-service.ts";
import { OTHER_WAYS } from "./attacks/other-ways.ts";
import { READS_BEFORE } from "./attacks/reads-before.ts";
import { RUNS_BEFORE } from "./attacks/runs-before.ts";
import { SPOOFS_IDENTITY } from "./attacks/spoofs-identity.ts";
import { VOTES } from "./attacks/votes.ts";
import { WRITES_ANSWER } from "./attacks/writes-answer.ts";

/** All attacks. */
export const ATTACKS: readonly Attack[] = [
  ...RUNS_BEFORE,
  ...READS_BEFORE,
  ...DENIES_SERVICE,
  ...OTHER_WAYS,
  ...VOTES,
  ...ANSWERS_ITSELF,
  ...SPOOFS_IDENTITY,
  ...CHANGES_MEMBERS,
  ...CHANGES_NAMES,
  ...WRITES_ANSWER,
];
