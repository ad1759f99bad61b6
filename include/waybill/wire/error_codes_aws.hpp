// SPDX-License-Identifier: MIT
//
// error_codes_aws: SQS, SNS, Kinesis, Firehose, EventBridge, CloudWatch Logs.
//
// A request that went through can still say of single entries that they failed; those codes are in
// the same tables. What all services share is asked last:
//
//     auto a = waybill::wire::find(waybill::wire::kinesis_errors.codes,
//                                  waybill::wire::aws_common_errors, entry.error_code);
//
// InternalFailure of an entry is transient, since the entry is said not to have been added; of a
// whole request it is unknown. CloudWatch's InvalidParameterException is in no table: it is what a
// batch that is too large gets, and what a batch out of order gets; the text tells.

#ifndef WAYBILL_WIRE_ERROR_CODES_AWS_HPP
#define WAYBILL_WIRE_ERROR_CODES_AWS_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_1::wire {

namespace detail {

inline constexpr error_code aws_common_codes[] = {
    {"ThrottlingException", answer::throttled},
    {"RequestEntityTooLargeException", answer::too_large},
    {"InternalFailure", answer::unknown},
    {"RequestAbortedException", answer::unknown},
    {"ServiceUnavailable", answer::transient},
    {"RequestTimeoutException", answer::transient},  // the request was not read to its end
    {"ValidationError", answer::permanent},
    {"InvalidAction", answer::permanent},
    {"MalformedHttpRequestException", answer::permanent},
    {"AccessDeniedException", answer::infrastructure},
    {"ExpiredTokenException", answer::infrastructure},
    {"IncompleteSignature", answer::infrastructure},
    {"InvalidClientTokenId", answer::infrastructure},
    {"MissingAuthenticationToken", answer::infrastructure},
    {"NotAuthorized", answer::infrastructure},
    {"OptInRequired", answer::infrastructure},
    {"RequestExpired", answer::infrastructure},
    {"UnrecognizedClientException", answer::infrastructure},
};

inline constexpr error_code sqs_codes[] = {
    {"BatchRequestTooLong", answer::too_large},
    {"AWS.SimpleQueueService.BatchRequestTooLong", answer::too_large},
    {"TooManyEntriesInBatchRequest", answer::too_many},
    {"RequestThrottled", answer::throttled},
    {"KmsThrottled", answer::throttled},
    {"EmptyBatchRequest", answer::permanent},
    {"BatchEntryIdsNotDistinct", answer::permanent},
    {"InvalidBatchEntryId", answer::permanent},
    {"InvalidMessageContents", answer::permanent},
    {"UnsupportedOperation", answer::permanent},
    {"QueueDoesNotExist", answer::infrastructure},
    {"InvalidAddress", answer::infrastructure},
    {"InvalidSecurity", answer::infrastructure},
    {"KmsAccessDenied", answer::infrastructure},
    {"KmsDisabled", answer::infrastructure},
    {"KmsInvalidKeyUsage", answer::infrastructure},
    {"KmsInvalidState", answer::infrastructure},
    {"KmsNotFound", answer::infrastructure},
    {"KmsOptInRequired", answer::infrastructure},
};

inline constexpr error_code sns_codes[] = {
    {"BatchRequestTooLong", answer::too_large},
    {"TooManyEntriesInBatchRequest", answer::too_many},
    {"Throttled", answer::throttled},
    {"KMSThrottling", answer::throttled},
    {"InternalError", answer::unknown},
    {"EmptyBatchRequest", answer::permanent},
    {"BatchEntryIdsNotDistinct", answer::permanent},
    {"InvalidBatchEntryId", answer::permanent},
    {"NotFound", answer::infrastructure},
    {"AuthorizationError", answer::infrastructure},
    {"EndpointDisabled", answer::infrastructure},
    {"PlatformApplicationDisabled", answer::infrastructure},
    {"InvalidSecurity", answer::infrastructure},
    {"KMSAccessDenied", answer::infrastructure},
    {"KMSDisabled", answer::infrastructure},
    {"KMSInvalidState", answer::infrastructure},
    {"KMSNotFound", answer::infrastructure},
    {"KMSOptInRequired", answer::infrastructure},
};

inline constexpr error_code kinesis_codes[] = {
    {"ProvisionedThroughputExceededException", answer::throttled},
    {"KMSThrottlingException", answer::throttled},
    {"InternalFailure", answer::transient},  // of an entry
    {"InvalidArgumentException", answer::permanent},
    {"ResourceNotFoundException", answer::infrastructure},
    {"KMSAccessDeniedException", answer::infrastructure},
    {"KMSDisabledException", answer::infrastructure},
    {"KMSInvalidStateException", answer::infrastructure},
    {"KMSNotFoundException", answer::infrastructure},
    {"KMSOptInRequired", answer::infrastructure},
};

inline constexpr error_code firehose_codes[] = {
    {"ServiceUnavailableException", answer::throttled},  // also how it says: too fast
    {"InternalFailure", answer::transient},              // of an entry
    {"InvalidArgumentException", answer::permanent},
    {"ResourceNotFoundException", answer::infrastructure},
    {"InvalidKMSResourceException", answer::infrastructure},
};

inline constexpr error_code eventbridge_codes[] = {
    {"ThrottlingException", answer::throttled},
    {"InternalFailure", answer::transient},  // of an entry
    {"InvalidArgument", answer::permanent},
    {"InvalidAccountIdException", answer::permanent},
    {"MalformedDetail", answer::permanent},
    {"RedactionFailure", answer::permanent},
    {"NotAuthorizedForSourceException", answer::permanent},
    {"NotAuthorizedForDetailTypeException", answer::permanent},
    {"AccessDeniedException", answer::infrastructure},
};

inline constexpr error_code cloudwatch_logs_codes[] = {
    {"DataAlreadyAcceptedException", answer::accepted},    // no longer sent
    {"InvalidSequenceTokenException", answer::transient},  // no longer sent
    {"ThrottlingException", answer::throttled},
    {"ServiceUnavailableException", answer::transient},
    {"ResourceNotFoundException", answer::infrastructure},
    {"UnrecognizedClientException", answer::infrastructure},
};

}  // namespace detail

/// What all AWS services share, of whole requests.
inline constexpr error_table aws_common_errors{
    "AWS", detail::aws_common_codes, "2026-11",
    "https://docs.aws.amazon.com/awsconsolehelpdocs/latest/gsg/common-errors.html"};

/// SendMessageBatch, its entries, and SendMessage.
inline constexpr error_table sqs_errors{
    "Amazon SQS", detail::sqs_codes, "2026-11",
    "https://docs.rs/aws-sdk-sqs/latest/aws_sdk_sqs/enum.Error.html"};

/// PublishBatch, its entries, and Publish.
inline constexpr error_table sns_errors{
    "Amazon SNS", detail::sns_codes, "2026-11",
    "https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html"};

/// PutRecords and its entries.
inline constexpr error_table kinesis_errors{
    "Amazon Kinesis", detail::kinesis_codes, "2026-11",
    "https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecordsResultEntry.html"};

/// PutRecordBatch and its entries.
inline constexpr error_table firehose_errors{
    "Amazon Data Firehose", detail::firehose_codes, "2026-11",
    "https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html"};

/// The entries of PutEvents.
inline constexpr error_table eventbridge_errors{
    "Amazon EventBridge", detail::eventbridge_codes, "2026-11",
    "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html"};

/// PutLogEvents.
inline constexpr error_table cloudwatch_logs_errors{
    "Amazon CloudWatch Logs", detail::cloudwatch_logs_codes, "2026-11",
    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html"};

}  // namespace waybill::inline v0_1::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_AWS_HPP
