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
// whole request it is unknown. InternalError of SQS and SNS is unknown of either: SQS was met to
// say it of entries (https://github.com/aws/aws-sdk-java/issues/2562), and no page was found that
// says such an entry was not added.
//
// SQS's errors have two names, a short one and one of its older protocol that many clients still
// show (AWS.SimpleQueueService.*, KMS.*); the table has both, as has the awsQueryError of each
// error in aws-sdk-js-v3's client-sqs.
//
// Some codes are in no table, since they are what something too large gets and much else besides;
// the text tells, and some have numbers that read_refusal reads (refusal_text.hpp):
//     CloudWatch   InvalidParameterException  too large, or out of order
//     SQS          InvalidParameterValue      "Message must be shorter than", of one message; or an
//                                             attribute that the queue has no use for
//     SNS          InvalidParameter           "Message too long", of one message
//     Kinesis      InvalidArgumentException   "Records size exceeds 5 MB limit", of the whole
//                                             (https://github.com/snowplow/enrich/issues/685)
//     Firehose     InvalidArgumentException   "Records size exceeds 4 MB limit", of the whole
//                                             (https://github.com/osquery/osquery/issues/3568)
//     both         ValidationException        one record too large; or anything else that is not
//                                             as the service describes it
//     EventBridge  ValidationException        all entries together over the limit, or too many; it
//                                             was also met as a bare HTTP 413
//                                             (https://github.com/boto/boto3/issues/3411)

#ifndef WAYBILL_WIRE_ERROR_CODES_AWS_HPP
#define WAYBILL_WIRE_ERROR_CODES_AWS_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

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
    {"AWS.SimpleQueueService.TooManyEntriesInBatchRequest", answer::too_many},
    {"RequestThrottled", answer::throttled},
    {"KmsThrottled", answer::throttled},
    {"KMS.ThrottlingException", answer::throttled},
    {"InternalError", answer::unknown},
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
    {"ResourceNotFoundException", answer::infrastructure},
    {"InvalidKMSResourceException", answer::infrastructure},
};

inline constexpr error_code eventbridge_codes[] = {
    {"ThrottlingException", answer::throttled},
    {"InternalFailure", answer::transient},  // of an entry
    {"InternalException", answer::unknown},  // of the whole
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

/// PutEvents and its entries.
inline constexpr error_table eventbridge_errors{
    "Amazon EventBridge", detail::eventbridge_codes, "2026-11",
    "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html"};

/// PutLogEvents.
inline constexpr error_table cloudwatch_logs_errors{
    "Amazon CloudWatch Logs", detail::cloudwatch_logs_codes, "2026-11",
    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html"};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_AWS_HPP
