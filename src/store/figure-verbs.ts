// The part of the Store port for statistics. Figures of an app are exact, and written in the transaction
// that does what they count; those of a subscription are gathered and written now and then.
import type { Counts, Figures } from '../core/figures.ts';
import type { Span } from '../core/stats-span.ts';

export interface FigureEdits {
  /** Writes figures of subscriptions that were gathered, at most `limit` rows. */
  keepFigures: { input: { limit: number }; output: { written: number; isMore: boolean } };
  /**
   * Puts minutes of apps together that are over, makes half hours of subscriptions' minutes that are
   * older than `subscriptionFineMs`, and deletes what is older than its time; at most `limit` rows of
   * each kind. What an app did in all stays known.
   */
  tidyFigures: {
    input: {
      appKeepMs: number;
      subscriptionFineMs: number;
      subscriptionKeepMs: number;
      limit: number;
    };
    output: { moved: number; isMore: boolean };
  };
}

export interface FigureReads {
  /** What an app did in all: the same as counting its rows, at every instant. */
  counts: { input: { appNo: number }; output: Counts };
  appFigures: { input: { appNo: number; span: Span }; output: AppFigures };
  /** In the order of the ids; unknown ones are left out. */
  subscriptionFigures: {
    input: { appNo: number; ids: readonly string[]; span: Span; pendingMax: number };
    output: readonly SubscriptionFigures[];
  };
}

export interface StepFigures {
  /** From 0: its place in the span. Steps in which nothing happened are left out. */
  step: number;
  figures: Figures;
}

export interface AppFigures {
  steps: readonly StepFigures[];
  /** Of all time. */
  counts: Counts;
  /** The event of the oldest delivery that has not ended. */
  oldestPending: string | undefined;
  attention: readonly Attention[];
}

export interface SubscriptionFigures {
  id: string;
  steps: readonly StepFigures[];
  pending: number;
  /** There are at least so many: counting stopped there. */
  isCapped: boolean;
  /** Where counting stopped, the oldest of those that are due first. */
  oldestPending: string | undefined;
}

/** Something that a person should look at. */
export interface Attention {
  kind: 'disabled' | 'failing';
  subscription: string;
  /** Empty where there is no target. */
  url: string;
  sinceMs: number | undefined;
  failures: number;
  status: number | undefined;
  error: string | undefined;
}
