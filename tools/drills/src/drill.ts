import type { Report } from './report.js';

export interface DrillContext {
  /** Few numbers and little traffic: for CI. The damage and the steps are the same. */
  readonly isShort: boolean;
  readonly report: Report;
  /** The commit of the release that an upgrade starts from; default: the last release. */
  readonly from?: string | undefined;
}

export interface Drill {
  /** One line for the list. */
  readonly about: string;
  /** The page in `infra/runbooks` whose steps it follows. */
  readonly runbook: string;
  /**
   * Starts a sandbox of its own, does the damage, follows the runbook, reports figures and promises, and ends what it started.
   * @throws when a step of the runbook does not work
   */
  run(context: DrillContext): Promise<void>;
}
