// What the metrics of a scrape are called and say. What a process needs has its names in process-meter.ts,
// what a node counts in meter.ts.
import { limits } from '../core/limits.ts';

export const titles = {
  storeUp: {
    name: 'ringback_store_up',
    help: 'Whether the store answered this scrape in time; when it is 0, ringback_cluster_… is missing.',
  },
  buildInfo: { name: 'ringback_build_info', help: 'The program.' },
  nodeInfo: { name: 'ringback_node_info', help: 'This node.' },
  nodeFresh: {
    name: 'ringback_node_fresh',
    help: 'Whether its heartbeat has reached the store lately.',
  },
  windowDeliveries: {
    name: 'ringback_window_deliveries',
    help: 'Deliveries under way on this node.',
  },
  windowMax: { name: 'ringback_window_max', help: 'Deliveries that may be under way on a node.' },
  streams: {
    name: 'ringback_streams',
    help: 'Streams of the live view that are open at this node.',
  },
  storeWaiting: { name: 'ringback_store_waiting', help: 'What waits for its batch to the store.' },
  admissionUnderWay: {
    name: 'ringback_admission_under_way',
    help: 'Requests that are under way at this node.',
  },
  admissionPublishLimit: {
    name: 'ringback_admission_publish_limit',
    help: 'Publishes that may be under way now.',
  },
  admissionChangeLimit: {
    name: 'ringback_admission_change_limit',
    help: 'Changes other than publishes that may be in progress now.',
  },
  admissionBodyBytes: {
    name: 'ringback_admission_body_bytes',
    help: 'Large bodies under way or on their way.',
  },
  admissionUnreadBytes: {
    name: 'ringback_admission_unread_bytes',
    help: 'Large answers that wait to be read.',
  },
  clusterDeliveries: {
    name: 'ringback_cluster_deliveries',
    help: 'Deliveries that have not ended: waiting, for whatever reason, or running.',
  },
  clusterDeliveriesEndedTotal: {
    name: 'ringback_cluster_deliveries_ended_total',
    help: 'Deliveries that ended, by how; since the database was made.',
  },
  clusterEventsTotal: {
    name: 'ringback_cluster_events_total',
    help: 'Events since the database was made.',
  },
  clusterOldestPendingSeconds: {
    name: 'ringback_cluster_oldest_pending_seconds',
    help: 'Age of the oldest event with a delivery that has not ended, whatever it waits for; 0: none.',
  },
  clusterFanouts: { name: 'ringback_cluster_fanouts', help: 'Large fan-outs under way.' },
  clusterReplays: { name: 'ringback_cluster_replays', help: 'Replays that run.' },
  clusterNotices: {
    name: 'ringback_cluster_notices',
    help: "Ringback's own events that are yet to be published.",
  },
  clusterNodes: { name: 'ringback_cluster_nodes', help: 'Nodes that are there.' },
  clusterDeliveriesDue: {
    name: 'ringback_cluster_deliveries_due',
    help: `Deliveries whose time has come, throttled and paused ones included; counted up to ${limits.dueCountedMax}.`,
  },
  clusterOldestDueSeconds: {
    name: 'ringback_cluster_oldest_due_seconds',
    help: 'How long the delivery waits that became due first, throttled and paused ones included; 0: none.',
  },
  clusterOldestReadySeconds: {
    name: 'ringback_cluster_oldest_ready_seconds',
    help: 'The same of deliveries that could go now: a number that grows means that nodes lag behind.',
  },
  clusterLanes: {
    name: 'ringback_cluster_lanes',
    help: 'Lanes: open or held, and of both together ordered, limited (by rate) and broken.',
  },
  clusterBreakers: {
    name: 'ringback_cluster_breakers',
    help: 'Lanes by their breaker: closed, open, or half open (the next delivery may probe).',
  },
  clusterSubscriptions: {
    name: 'ringback_cluster_subscriptions',
    help: 'Subscriptions that have not ended.',
  },
  dataFreeBytes: { name: 'ringback_data_free_bytes', help: 'Room left where the data folder is.' },
  dataSizeBytes: { name: 'ringback_data_size_bytes', help: 'All room where the data folder is.' },
  dataUsedBytes: {
    name: 'ringback_data_used_bytes',
    help: 'What the database takes, its log included.',
  },
} as const;
