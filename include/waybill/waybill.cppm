// SPDX-License-Identifier: MIT
//
// The module waybill: `import waybill;` instead of `#include <waybill/waybill.hpp>`. It exports the
// public names of that header, no macros and no extensions. Compiled once per program:
//
//     clang++-19 -std=c++20 -I include --precompile include/waybill/waybill.cppm -o waybill.pcm
//     clang++-19 -std=c++20 -fmodule-file=waybill=waybill.pcm -c main.cpp
//
// The module contains only inline functions and templates, so there is no object file to link.

module;

#include <waybill/waybill.hpp>

export module waybill;

// The names, written by tests/api --write:
export namespace waybill {
using waybill::abandon;
using waybill::add_result;
using waybill::advance_outcome;
using waybill::amortised;
using waybill::assignment;
using waybill::at_least_once_machine;
using waybill::at_least_once_machine_types;
using waybill::at_least_once_policy;
using waybill::at_least_once_report;
using waybill::backoff;
using waybill::balance;
using waybill::balance_plan;
using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::batch_machine;
using waybill::batch_machine_types;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::batch_report;
using waybill::batch_sender;
using waybill::batch_sender_types;
using waybill::bin;
using waybill::bin_losses;
using waybill::bin_options;
using waybill::bin_packer;
using waybill::binned;
using waybill::bins;
using waybill::calibration;
using waybill::call_answer;
using waybill::call_policy;
using waybill::call_report;
using waybill::cancelled;
using waybill::checkpoint;
using waybill::checkpoint_reset;
using waybill::checkpoint_store;
using waybill::checkpoint_writer;
using waybill::checkpoint_writer_for;
using waybill::chunk;
using waybill::chunk_by;
using waybill::circuit_breaker;
using waybill::circuit_breaker_of;
using waybill::circuit_breaker_types;
using waybill::closed_batch;
using waybill::commit_outcome;
using waybill::commit_schedule;
using waybill::commit_schedule_types;
using waybill::compensated;
using waybill::complete;
using waybill::completion_tracker;
using waybill::config_error;
using waybill::counted;
using waybill::crash_record;
using waybill::crash_record_store;
using waybill::crc32c;
using waybill::dead_letter;
using waybill::dead_letter_body;
using waybill::dead_letter_import;
using waybill::dead_letter_message;
using waybill::dead_letter_options;
using waybill::dead_letter_queue;
using waybill::dead_letter_reason;
using waybill::dead_letter_sink;
using waybill::dead_letter_sink_for;
using waybill::dead_letter_store;
using waybill::decide;
using waybill::decode;
using waybill::decode_text;
using waybill::defer;
using waybill::deferral_options;
using waybill::deferred;
using waybill::deferred_messages;
using waybill::delivery_terms;
using waybill::describe;
using waybill::duration;
using waybill::encode;
using waybill::encode_text;
using waybill::encoded_done;
using waybill::ends;
using waybill::environment;
using waybill::event_log;
using waybill::event_outcome;
using waybill::event_result;
using waybill::extremes;
using waybill::fault;
using waybill::fault_kind;
using waybill::fenced_store;
using waybill::first_too_large;
using waybill::fixed_overhead;
using waybill::framed;
using waybill::framing;
using waybill::front_chunk;
using waybill::get_if;
using waybill::give_up;
using waybill::holds_alternative;
using waybill::idempotency_key;
using waybill::idempotency_keys;
using waybill::idle;
using waybill::infrastructure;
using waybill::insert_result;
using waybill::is_utf8;
using waybill::item_outcome;
using waybill::item_range;
using waybill::item_report;
using waybill::job;
using waybill::keyed_batch;
using waybill::keyed_batches;
using waybill::lease;
using waybill::lease_claim;
using waybill::lease_group;
using waybill::lease_manager;
using waybill::lease_manager_types;
using waybill::lease_observer;
using waybill::lease_options;
using waybill::lease_store;
using waybill::lease_table;
using waybill::let_lock_expire;
using waybill::load;
using waybill::lock_lost;
using waybill::lock_renewal;
using waybill::lock_renewal_types;
using waybill::log_histogram;
using waybill::make;
using waybill::make_broker_dead_letter;
using waybill::make_dead_letter;
using waybill::make_pipeline_dead_letter;
using waybill::match;
using waybill::measure;
using waybill::measures;
using waybill::merged;
using waybill::message_queue;
using waybill::moments;
using waybill::name;
using waybill::open_batch;
using waybill::open_limits;
using waybill::opened_state;
using waybill::outbox_store;
using waybill::owned_chunk;
using waybill::owned_chunks;
using waybill::owner_heartbeat;
using waybill::owner_id;
using waybill::ownership_lost;
using waybill::pack;
using waybill::packed_bins;
using waybill::parse_duration;
using waybill::parse_wall_time;
using waybill::partition_key;
using waybill::partition_lifecycle;
using waybill::partition_lifecycle_types;
using waybill::partition_tasks;
using waybill::partitions_report;
using waybill::pause;
using waybill::perform;
using waybill::permanent;
using waybill::pipeline;
using waybill::pipeline_dead_letter;
using waybill::pipeline_dead_letter_store;
using waybill::pipeline_policy;
using waybill::pipeline_types;
using waybill::plan_prune;
using waybill::plan_redrive;
using waybill::plan_sweep;
using waybill::position;
using waybill::position_of;
using waybill::process_at_least_once;
using waybill::process_batch;
using waybill::process_step;
using waybill::processor;
using waybill::prune_plan;
using waybill::prune_policy;
using waybill::quantile;
using waybill::queue_delivery;
using waybill::queue_policy;
using waybill::queue_report;
using waybill::read_step_properties;
using waybill::receive_planner;
using waybill::receive_planner_types;
using waybill::redrive;
using waybill::redrive_all;
using waybill::redrive_plan;
using waybill::redrive_policy;
using waybill::redrive_types;
using waybill::relay;
using waybill::relay_report;
using waybill::reprocess;
using waybill::reprocess_all;
using waybill::reprocess_report;
using waybill::resend_buffer;
using waybill::reserve;
using waybill::resubmit;
using waybill::result;
using waybill::retry_action;
using waybill::retry_budget;
using waybill::retry_call;
using waybill::retry_levels;
using waybill::retry_loop;
using waybill::retry_loop_types;
using waybill::retry_now;
using waybill::retry_policy;
using waybill::retry_token_bucket;
using waybill::rewind;
using waybill::rewind_report;
using waybill::row_key;
using waybill::run_partitions;
using waybill::run_queue;
using waybill::run_session;
using waybill::sample;
using waybill::save;
using waybill::save_result;
using waybill::savepoint_scope;
using waybill::scheduled_id;
using waybill::schema_version;
using waybill::scoped_permit;
using waybill::send_all;
using waybill::send_outcome;
using waybill::send_policy;
using waybill::send_report;
using waybill::sequenced;
using waybill::session_progress;
using waybill::session_queue;
using waybill::session_report;
using waybill::session_state;
using waybill::session_store;
using waybill::settle;
using waybill::settle_batches;
using waybill::settle_batches_types;
using waybill::settle_policy;
using waybill::settlement;
using waybill::shared_budget;
using waybill::skipped;
using waybill::sliding_window;
using waybill::slot_options;
using waybill::slotted_window;
using waybill::snapshot_error;
using waybill::state_budget;
using waybill::state_format;
using waybill::state_read;
using waybill::state_write;
using waybill::stats;
using waybill::steady_time;
using waybill::step_facts;
using waybill::step_outcome;
using waybill::step_properties;
using waybill::stop_requested;
using waybill::stored_state;
using waybill::stuck_watch;
using waybill::summed;
using waybill::sweep_item;
using waybill::sweep_policy;
using waybill::text_state;
using waybill::text_state_codec;
using waybill::time_limited;
using waybill::time_on;
using waybill::time_until_dead_letter;
using waybill::to_text;
using waybill::tracked_event;
using waybill::tracker_budget;
using waybill::tracker_options;
using waybill::tracker_start;
using waybill::transactional;
using waybill::transient;
using waybill::unexpected;
using waybill::unlimited;
using waybill::utf8_prefix;
using waybill::validate;
using waybill::variant;
using waybill::versioned_session_state;
using waybill::wait_until;
using waybill::wall_time;
using waybill::weighted_count;
using waybill::weighted_sample;
using waybill::weighted_stats;
using waybill::window_losses;
using waybill::window_options;
using waybill::window_set;
using waybill::window_set_options;
using waybill::window_summary;
using waybill::with_reserve;
using waybill::worst_case;
using waybill::write_step_properties;
}  // namespace waybill

export namespace waybill::retry_presets {
using waybill::retry_presets::any_number;
using waybill::retry_presets::aws_retry_quota;
using waybill::retry_presets::aws_retry_quota_2026;
using waybill::retry_presets::aws_standard;
using waybill::retry_presets::aws_standard_2026;
using waybill::retry_presets::aws_throttled_2026;
using waybill::retry_presets::azure_amqp;
using waybill::retry_presets::azure_http;
using waybill::retry_presets::finagle;
using waybill::retry_presets::google_cloud_cpp;
using waybill::retry_presets::google_pubsub_cpp;
using waybill::retry_presets::grpc_example;
using waybill::retry_presets::grpc_throttling_example;
using waybill::retry_presets::kafka_producer;
using waybill::retry_presets::nservicebus;
using waybill::retry_presets::polly;
using waybill::retry_presets::preset;
using waybill::retry_presets::pubsub_subscription;
using waybill::retry_presets::service_bus_queue;
using waybill::retry_presets::sqs_queue;
}  // namespace waybill::retry_presets

export namespace waybill::scaling {
using waybill::scaling::admission;
using waybill::scaling::admit;
using waybill::scaling::all_of;
using waybill::scaling::all_of_both;
using waybill::scaling::any_of;
using waybill::scaling::applied;
using waybill::scaling::applied_change;
using waybill::scaling::at_least;
using waybill::scaling::at_least_of;
using waybill::scaling::autoscale;
using waybill::scaling::autoscale_once;
using waybill::scaling::autoscale_report;
using waybill::scaling::autoscale_state;
using waybill::scaling::averaged;
using waybill::scaling::band;
using waybill::scaling::basic_policy;
using waybill::scaling::both;
using waybill::scaling::bounded_list;
using waybill::scaling::bounds;
using waybill::scaling::by_instances;
using waybill::scaling::capacity_at;
using waybill::scaling::capacity_tier;
using waybill::scaling::change;
using waybill::scaling::clash;
using waybill::scaling::command;
using waybill::scaling::command_message;
using waybill::scaling::command_result;
using waybill::scaling::comparison;
using waybill::scaling::condition;
using waybill::scaling::cooldowns;
using waybill::scaling::decide;
using waybill::scaling::decision;
using waybill::scaling::describe;
using waybill::scaling::either;
using waybill::scaling::evidence;
using waybill::scaling::failed;
using waybill::scaling::flapping;
using waybill::scaling::highest;
using waybill::scaling::holds;
using waybill::scaling::is_only_a_bound;
using waybill::scaling::is_set;
using waybill::scaling::last;
using waybill::scaling::limit_of;
using waybill::scaling::lowest;
using waybill::scaling::mean;
using waybill::scaling::measured;
using waybill::scaling::metric_message;
using waybill::scaling::metric_samples;
using waybill::scaling::metric_source;
using waybill::scaling::metrics_of;
using waybill::scaling::missing_part;
using waybill::scaling::of;
using waybill::scaling::of_instances;
using waybill::scaling::one_of_both;
using waybill::scaling::opposite;
using waybill::scaling::pending_command;
using waybill::scaling::per_direction;
using waybill::scaling::per_instance;
using waybill::scaling::policy;
using waybill::scaling::policy_error;
using waybill::scaling::policy_of;
using waybill::scaling::rate;
using waybill::scaling::rate_limit;
using waybill::scaling::read;
using waybill::scaling::reading;
using waybill::scaling::reason;
using waybill::scaling::recommendation;
using waybill::scaling::record;
using waybill::scaling::relation;
using waybill::scaling::resize_outcome;
using waybill::scaling::result_message;
using waybill::scaling::role;
using waybill::scaling::rule;
using waybill::scaling::situation;
using waybill::scaling::state;
using waybill::scaling::state_store;
using waybill::scaling::statistic;
using waybill::scaling::statistics;
using waybill::scaling::step_of;
using waybill::scaling::sum;
using waybill::scaling::target;
using waybill::scaling::threshold;
using waybill::scaling::threshold_step;
using waybill::scaling::tier_for;
using waybill::scaling::tier_named;
using waybill::scaling::tribool;
using waybill::scaling::truth_of;
using waybill::scaling::unknown_metric;
using waybill::scaling::validate;
using waybill::scaling::verdict;
using waybill::scaling::when_missing;
}  // namespace waybill::scaling

export namespace waybill::wire {
using waybill::wire::answer;
using waybill::wire::aws_common_errors;
using waybill::wire::aws_iot_core;
using waybill::wire::azure_amqp_errors;
using waybill::wire::azure_queue_storage;
using waybill::wire::base64_size;
using waybill::wire::base64_unpadded_size;
using waybill::wire::cloudwatch_logs_errors;
using waybill::wire::cloudwatch_put_log_events;
using waybill::wire::cloudwatch_put_metric_data;
using waybill::wire::dialect;
using waybill::wire::emqx_default;
using waybill::wire::error_code;
using waybill::wire::error_table;
using waybill::wire::event_hubs_basic;
using waybill::wire::event_hubs_dedicated;
using waybill::wire::event_hubs_standard;
using waybill::wire::eventbridge_errors;
using waybill::wire::eventbridge_put_events;
using waybill::wire::eventbridge_put_events_1mb;
using waybill::wire::extent;
using waybill::wire::fault_of;
using waybill::wire::find;
using waybill::wire::firehose_errors;
using waybill::wire::firehose_put_record_batch;
using waybill::wire::grpc_default;
using waybill::wire::grpc_errors;
using waybill::wire::http_errors;
using waybill::wire::jetstream_errors;
using waybill::wire::kafka_default;
using waybill::wire::kafka_errors;
using waybill::wire::kinesis_errors;
using waybill::wire::kinesis_put_records;
using waybill::wire::kinesis_put_records_large;
using waybill::wire::mosquitto_default;
using waybill::wire::mqtt5_errors;
using waybill::wire::mqtt_protocol;
using waybill::wire::nats_default;
using waybill::wire::nats_errors;
using waybill::wire::outcome_of;
using waybill::wire::proof;
using waybill::wire::pubsub_errors;
using waybill::wire::pubsub_publish;
using waybill::wire::rabbitmq_3_default;
using waybill::wire::rabbitmq_4_default;
using waybill::wire::rabbitmq_errors;
using waybill::wire::read_refusal;
using waybill::wire::redis_default;
using waybill::wire::refusal_numbers;
using waybill::wire::retry_after;
using waybill::wire::retry_after_ms;
using waybill::wire::retry_delay;
using waybill::wire::retry_info;
using waybill::wire::service;
using waybill::wire::service_bus_premium;
using waybill::wire::service_bus_premium_single;
using waybill::wire::service_bus_standard;
using waybill::wire::services;
using waybill::wire::sns_errors;
using waybill::wire::sns_publish_batch;
using waybill::wire::sqs_errors;
using waybill::wire::sqs_send_message_batch;
using waybill::wire::sqs_send_message_batch_256k;
}  // namespace waybill::wire

export namespace waybill::wire::amqp {
using waybill::wire::amqp::batch;
using waybill::wire::amqp::batch_format;
using waybill::wire::amqp::bound;
using waybill::wire::amqp::content;
using waybill::wire::amqp::dotnet;
using waybill::wire::amqp::encoder;
using waybill::wire::amqp::entries;
using waybill::wire::amqp::event_hubs_js;
using waybill::wire::amqp::go_amqp;
using waybill::wire::amqp::identifier;
using waybill::wire::amqp::message;
using waybill::wire::amqp::minimal;
using waybill::wire::amqp::numbers;
using waybill::wire::amqp::octets;
using waybill::wire::amqp::profile;
using waybill::wire::amqp::property;
using waybill::wire::amqp::proton;
using waybill::wire::amqp::rhea;
using waybill::wire::amqp::section;
using waybill::wire::amqp::service_bus_dotnet;
using waybill::wire::amqp::service_bus_js;
using waybill::wire::amqp::single_message;
using waybill::wire::amqp::size;
using waybill::wire::amqp::uamqp;
using waybill::wire::amqp::value;
using waybill::wire::amqp::wrapped;
}  // namespace waybill::wire::amqp

export namespace waybill::wire::amqp091 {
using waybill::wire::amqp091::array;
using waybill::wire::amqp091::body_frames_size;
using waybill::wire::amqp091::bytes;
using waybill::wire::amqp091::decimal;
using waybill::wire::amqp091::default_frame_max;
using waybill::wire::amqp091::encoded;
using waybill::wire::amqp091::field;
using waybill::wire::amqp091::frame_overhead;
using waybill::wire::amqp091::header_frame_size;
using waybill::wire::amqp091::message;
using waybill::wire::amqp091::method_frame_size;
using waybill::wire::amqp091::size;
using waybill::wire::amqp091::table;
using waybill::wire::amqp091::table_size;
using waybill::wire::amqp091::timestamp;
using waybill::wire::amqp091::value;
}  // namespace waybill::wire::amqp091

export namespace waybill::wire::cloudwatch {
using waybill::wire::cloudwatch::event;
using waybill::wire::cloudwatch::put_log_events;
using waybill::wire::cloudwatch::size;
}  // namespace waybill::wire::cloudwatch

export namespace waybill::wire::eventbridge {
using waybill::wire::eventbridge::entry;
using waybill::wire::eventbridge::size;
}  // namespace waybill::wire::eventbridge

export namespace waybill::wire::json {
using waybill::wire::json::array;
using waybill::wire::json::bulk_size;
using waybill::wire::json::escapes;
using waybill::wire::json::length;
using waybill::wire::json::lines;
using waybill::wire::json::measure;
using waybill::wire::json::measured;
using waybill::wire::json::string_size;
}  // namespace waybill::wire::json

export namespace waybill::wire::kafka {
using waybill::wire::kafka::batch_head;
using waybill::wire::kafka::bound;
using waybill::wire::kafka::header;
using waybill::wire::kafka::max_bytes;
using waybill::wire::kafka::record;
using waybill::wire::kafka::record_batch;
using waybill::wire::kafka::size;
}  // namespace waybill::wire::kafka

export namespace waybill::wire::kinesis {
using waybill::wire::kinesis::record;
using waybill::wire::kinesis::size;
}  // namespace waybill::wire::kinesis

export namespace waybill::wire::mqtt5 {
using waybill::wire::mqtt5::max_remaining_length;
using waybill::wire::mqtt5::properties_size;
using waybill::wire::mqtt5::property;
using waybill::wire::mqtt5::publish;
using waybill::wire::mqtt5::size;
}  // namespace waybill::wire::mqtt5

export namespace waybill::wire::nats {
using waybill::wire::nats::frame_size;
using waybill::wire::nats::header;
using waybill::wire::nats::header_size;
using waybill::wire::nats::header_style;
using waybill::wire::nats::message;
using waybill::wire::nats::payload_size;
}  // namespace waybill::wire::nats

export namespace waybill::wire::protobuf {
using waybill::wire::protobuf::bytes_field_size;
using waybill::wire::protobuf::fixed32_field_size;
using waybill::wire::protobuf::fixed64_field_size;
using waybill::wire::protobuf::max_bytes;
using waybill::wire::protobuf::repeated;
using waybill::wire::protobuf::tag_size;
using waybill::wire::protobuf::varint_field_size;
}  // namespace waybill::wire::protobuf

export namespace waybill::wire::pubsub {
using waybill::wire::pubsub::attribute;
using waybill::wire::pubsub::billed_size;
using waybill::wire::pubsub::message;
using waybill::wire::pubsub::publish_request;
using waybill::wire::pubsub::size;
}  // namespace waybill::wire::pubsub

export namespace waybill::wire::sqs {
using waybill::wire::sqs::attribute;
using waybill::wire::sqs::message;
using waybill::wire::sqs::size;
}  // namespace waybill::wire::sqs
