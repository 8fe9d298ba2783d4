// Names and help of the metrics of a scrape. Those of the process are in process-meter.ts, those
// that a node counts in meter.ts.
import { limits } from '../../core/limits/limits.ts';

export const titles = {
  storeUp: {
    name: 'ringback_store_up',
    help:
      'Whether the store responded to this scrape in time; when it is 0, ringback_cluster_… ' +
      'is missing.',
  },
  buildInfo: { name: 'ringback_build_info', help: 'Version of the program.' },
  nodeInfo: { name: 'ringback_node_info', help: 'Name and role of this node.' },
  nodeFresh: {
    name: 'ringback_node_fresh',
    help: 'Whether a recent heartbeat of this node reached the store.',
  },
  windowDeliveries: {
    name: 'ringback_window_deliveries',
    help: 'Deliveries in flight on this node.',
  },
  windowMax: {
    name: 'ringback_window_max',
    help: 'Maximum number of deliveries in flight on a node.',
  },
  streams: {
    name: 'ringback_streams',
    help: 'Live view streams open on this node.',
  },
  storeWaiting: {
    name: 'ringback_store_waiting',
    help: 'Operations queued for the next store batch.',
  },
  admissionInFlight: {
    name: 'ringback_admission_under_way',
    help: 'Requests in progress on this node.',
  },
  admissionPublishLimit: {
    name: 'ringback_admission_publish_limit',
    help: 'Maximum number of publishes in progress, currently.',
  },
  admissionChangeLimit: {
    name: 'ringback_admission_change_limit',
    help: 'Changes other than publishes that may be in progress now.',
  },
  admissionBodyBytes: {
    name: 'ringback_admission_body_bytes',
    help: 'Large request bodies being received or processed.',
  },
  admissionUnreadBytes: {
    name: 'ringback_admission_unread_bytes',
    help: 'Large responses waiting to be read by the client.',
  },
  clusterDeliveries: {
    name: 'ringback_cluster_deliveries',
    help: 'Deliveries that have not ended: pending, for whatever reason, or running.',
  },
  clusterDeliveriesEndedTotal: {
    name: 'ringback_cluster_deliveries_ended_total',
    help: 'Deliveries that have ended, by outcome, since the database was created.',
  },
  clusterEventsTotal: {
    name: 'ringback_cluster_events_total',
    help: 'Events since the database was created.',
  },
  clusterOldestPendingSeconds: {
    name: 'ringback_cluster_oldest_pending_seconds',
    help:
      'Age of the oldest event with a delivery that has not ended, for whatever reason; 0: ' +
      'none.',
  },
  clusterFanouts: { name: 'ringback_cluster_fanouts', help: 'Large fan-outs in progress.' },
  clusterReplays: { name: 'ringback_cluster_replays', help: 'Running replays.' },
  clusterNotices: {
    name: 'ringback_cluster_notices',
    help: 'Ringback’s own events that are not published yet.',
  },
  clusterNodes: { name: 'ringback_cluster_nodes', help: 'Live nodes of the cluster.' },
  clusterDeliveriesDue: {
    name: 'ringback_cluster_deliveries_due',
    help:
      'Due deliveries, including throttled and paused ones; counted up to ' +
      `${limits.dueCountedMax}.`,
  },
  clusterOldestDueSeconds: {
    name: 'ringback_cluster_oldest_due_seconds',
    help:
      'How long the oldest due delivery has been waiting, including throttled and paused ' +
      'ones; 0: none.',
  },
  clusterOldestReadySeconds: {
    name: 'ringback_cluster_oldest_ready_seconds',
    help:
      'The same, counting only deliveries that could be sent now: a growing number means ' +
      'that nodes lag behind.',
  },
  clusterLanes: {
    name: 'ringback_cluster_lanes',
    help:
      'Lanes by state: open or held; both also counted as ordered, limited (by rate) and ' +
      'broken.',
  },
  clusterBreakers: {
    name: 'ringback_cluster_breakers',
    help:
      'Lanes by the state of their circuit breaker: closed, open, or half open (the next ' +
      'delivery is the probe).',
  },
  clusterSubscriptions: {
    name: 'ringback_cluster_subscriptions',
    help: 'Subscriptions that have not ended.',
  },
  dataFreeBytes: {
    name: 'ringback_data_free_bytes',
    help: 'Free space on the file system of the data folder.',
  },
  dataSizeBytes: {
    name: 'ringback_data_size_bytes',
    help: 'Total space on the file system of the data folder.',
  },
  dataUsedBytes: {
    name: 'ringback_data_used_bytes',
    help: 'Size of the database, including its log.',
  },
} as const;
