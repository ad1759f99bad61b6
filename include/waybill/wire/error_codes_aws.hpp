// SPDX-License-Identifier: MIT
//
// error_codes_aws: error codes of SQS, SNS, Kinesis, Firehose, EventBridge and CloudWatch Logs.
//
//     auto a = waybill::wire::find(waybill::wire::kinesis_errors.codes,
//                                  waybill::wire::aws_common_errors, entry.error_code);
//
// A successful request can contain failed entries; the tables contain their codes, too. The codes
// that all services share are in `aws_common_errors`.
//
// InternalFailure of an entry is transient, because the service documents that the entry was not
// added. InternalFailure of a whole request is `outcome_unknown`. InternalError of SQS and SNS is
// `outcome_unknown` for both: SQS also reports it for entries
// (https://github.com/aws/aws-sdk-java/issues/2562). No page was found that documents such an entry
// as not added.
//
// Some codes have several meanings, which only their texts show: pass the text to `find`, or use
// outcome_of, which also reads the size and the limit in it.

#ifndef WAYBILL_WIRE_ERROR_CODES_AWS_HPP
#define WAYBILL_WIRE_ERROR_CODES_AWS_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

inline constexpr error_code aws_common_codes[] = {
    {"ThrottlingException", answer::throttled},
    {"Throttling", answer::throttled},
    {"RequestEntityTooLargeException", answer::too_large},
    {"InternalFailure", answer::outcome_unknown},
    {"RequestAbortedException", answer::outcome_unknown},
    {"ServiceUnavailable", answer::transient},
    {"RequestTimeoutException", answer::transient},  // request not completely received
    {"ValidationError", answer::permanent},
    {"InvalidAction", answer::permanent},
    {"MalformedHttpRequestException", answer::permanent},
    {"AccessDeniedException", answer::infrastructure},
    {"AuthFailure", answer::infrastructure},
    {"ExpiredToken", answer::infrastructure},
    {"ExpiredTokenException", answer::infrastructure},
    {"IncompleteSignature", answer::infrastructure},
    {"InvalidClientTokenId", answer::infrastructure},
    {"InvalidSignatureException", answer::infrastructure},  // often: a clock that is wrong
    {"MissingAuthenticationToken", answer::infrastructure},
    {"NotAuthorized", answer::infrastructure},
    {"OptInRequired", answer::infrastructure},
    {"RequestExpired", answer::infrastructure},
    {"RequestTimeTooSkewed", answer::infrastructure},
    {"SignatureDoesNotMatch", answer::infrastructure},  // often: a clock that is wrong
    {"UnrecognizedClientException", answer::infrastructure},
};

inline constexpr error_code sqs_codes[] = {
    {"BatchRequestTooLong", answer::too_large},
    {"AWS.SimpleQueueService.BatchRequestTooLong", answer::too_large},
    {"TooManyEntriesInBatchRequest", answer::too_many},
    {"AWS.SimpleQueueService.TooManyEntriesInBatchRequest", answer::too_many},
    {"InvalidParameterValue", answer::too_large, {}, "Message must be shorter than"},
    {"InvalidParameterValue", answer::ownership_lost, {}, "The receipt handle has expired"},
    {"ReceiptHandleIsInvalid", answer::ownership_lost},
    {"MessageNotInflight", answer::ownership_lost},
    {"AWS.SimpleQueueService.MessageNotInflight", answer::ownership_lost},
    {"RequestThrottled", answer::throttled},
    {"KmsThrottled", answer::throttled},
    {"KMS.ThrottlingException", answer::throttled},
    {"InternalError", answer::outcome_unknown},
    {"EmptyBatchRequest", answer::permanent},
    {"BatchEntryIdsNotDistinct", answer::permanent},
    {"InvalidBatchEntryId", answer::permanent},
    {"InvalidMessageContents", answer::permanent},
    {"UnsupportedOperation", answer::permanent},
    {"AWS.SimpleQueueService.EmptyBatchRequest", answer::permanent},
    {"AWS.SimpleQueueService.BatchEntryIdsNotDistinct", answer::permanent},
    {"AWS.SimpleQueueService.InvalidBatchEntryId", answer::permanent},
    {"AWS.SimpleQueueService.UnsupportedOperation", answer::permanent},
    {"QueueDoesNotExist", answer::infrastructure},
    {"AWS.SimpleQueueService.NonExistentQueue", answer::infrastructure},
    {"InvalidAddress", answer::infrastructure},
    {"InvalidSecurity", answer::infrastructure},
    {"KmsAccessDenied", answer::infrastructure},
    {"KmsDisabled", answer::infrastructure},
    {"KmsInvalidKeyUsage", answer::infrastructure},
    {"KmsInvalidState", answer::infrastructure},
    {"KmsNotFound", answer::infrastructure},
    {"KmsOptInRequired", answer::infrastructure},
    {"KMS.AccessDeniedException", answer::infrastructure},
    {"KMS.DisabledException", answer::infrastructure},
    {"KMS.InvalidKeyUsageException", answer::infrastructure},
    {"KMS.InvalidStateException", answer::infrastructure},
    {"KMS.NotFoundException", answer::infrastructure},
    {"KMS.OptInRequired", answer::infrastructure},
};

inline constexpr error_code sns_codes[] = {
    {"BatchRequestTooLong", answer::too_large},
    {"InvalidParameter", answer::too_large, {}, "Message too long"},
    {"TooManyEntriesInBatchRequest", answer::too_many},
    {"Throttled", answer::throttled},
    {"KMSThrottling", answer::throttled},
    {"InternalError", answer::outcome_unknown},
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

// A record with more than its limit, in the text of a ValidationException.
inline constexpr std::string_view too_long_data =
    "data' failed to satisfy constraint: Member must have length less than or equal to";

inline constexpr error_code kinesis_codes[] = {
    {"InvalidArgumentException", answer::too_large, {}, "Records size exceeds"},
    {"ValidationException", answer::too_large, {}, too_long_data},
    {"ProvisionedThroughputExceededException", answer::throttled},
    {"KMSThrottlingException", answer::throttled},
    {"InternalFailure", answer::transient},  // of an entry
    {"ResourceNotFoundException", answer::infrastructure},
    {"KMSAccessDeniedException", answer::infrastructure},
    {"KMSDisabledException", answer::infrastructure},
    {"KMSInvalidStateException", answer::infrastructure},
    {"KMSNotFoundException", answer::infrastructure},
    {"KMSOptInRequired", answer::infrastructure},
};

inline constexpr error_code firehose_codes[] = {
    {"InvalidArgumentException", answer::too_large, {}, "Records size exceeds"},
    {"ValidationException", answer::too_large, {}, too_long_data},
    {"ServiceUnavailableException", answer::throttled},  // also used for throttling
    {"InternalFailure", answer::transient},              // of an entry
    {"ResourceNotFoundException", answer::infrastructure},
    {"InvalidKMSResourceException", answer::infrastructure},
};

inline constexpr error_code eventbridge_codes[] = {
    {"ValidationException",
     answer::too_large,
     {},
     "Total size of the entries in the request is over the limit"},
    {"ValidationException",
     answer::too_many,
     {},
     "'entries' failed to satisfy constraint: Member must have length less than or equal to"},
    {"ThrottlingException", answer::throttled},
    {"InternalFailure", answer::transient},          // of an entry
    {"InternalException", answer::outcome_unknown},  // of a whole request
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

/// Codes that all AWS services share, for whole requests. Not in the table: ValidationException,
/// which some services use for a request that is too large, and for any other invalid input.
inline constexpr error_table aws_common_errors{
    "AWS", detail::aws_common_codes, "2026-11",
    "https://docs.aws.amazon.com/awsconsolehelpdocs/latest/gsg/common-errors.html"};

/// SendMessageBatch, its entries, and SendMessage. An error has a short name, and a name of the
/// older protocol that many clients still show (AWS.SimpleQueueService.*, KMS.*). The table
/// contains both, as does the awsQueryError of each error in client-sqs of aws-sdk-js-v3.
/// Not in the table: other texts of InvalidParameterValue.
inline constexpr error_table sqs_errors{
    "Amazon SQS", detail::sqs_codes, "2026-11",
    "https://docs.rs/aws-sdk-sqs/latest/aws_sdk_sqs/enum.Error.html", dialect::sqs};

/// PublishBatch, its entries, and Publish.
/// Not in the table: other texts of InvalidParameter.
inline constexpr error_table sns_errors{
    "Amazon SNS", detail::sns_codes, "2026-11",
    "https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html"};

/// PutRecords and its entries.
/// Not in the table: other texts of InvalidArgumentException and ValidationException. The phrases
/// are from https://github.com/snowplow/enrich/issues/685 and
/// https://github.com/awslabs/amazon-kinesis-producer/issues/680.
inline constexpr error_table kinesis_errors{
    "Amazon Kinesis", detail::kinesis_codes, "2026-11",
    "https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecordsResultEntry.html"};

/// PutRecordBatch and its entries.
/// Not in the table: other texts of InvalidArgumentException and ValidationException. The phrases
/// are from https://github.com/osquery/osquery/issues/3568 and
/// https://github.com/postmates/cernan/pull/210.
inline constexpr error_table firehose_errors{
    "Amazon Data Firehose", detail::firehose_codes, "2026-11",
    "https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html"};

/// PutEvents and its entries.
/// Not in the table: other texts of ValidationException. The phrases are from
/// https://github.com/awslabs/aws-service-catalog-puppet/issues/563 and issues/166 there. A request
/// that is too large was also refused with HTTP 413 and no code
/// (https://github.com/boto/boto3/issues/3411).
inline constexpr error_table eventbridge_errors{
    "Amazon EventBridge", detail::eventbridge_codes, "2026-11",
    "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html"};

/// PutLogEvents.
/// Not in the table: InvalidParameterException. It means that the request or an event is too large,
/// which the text shows (`dialect::cloudwatch_logs`), or that events are out of order.
inline constexpr error_table cloudwatch_logs_errors{
    "Amazon CloudWatch Logs", detail::cloudwatch_logs_codes, "2026-11",
    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html",
    dialect::cloudwatch_logs};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_AWS_HPP
