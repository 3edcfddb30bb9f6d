// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// Moves a deposit of the payer to the contract that calls it.
interface IDepositCollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

interface IReceiveWithAuthorization {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}

/**
 * Payment channels of the x402 scheme batch-settlement, for sandboxes and tests only: this code has the interface, the events and the rules
 * of the contract that is deployed at 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003 on public chains, which live deployments use instead.
 *
 * A payer deposits into a channel and signs vouchers for a growing total. The receiving side claims the total of the last voucher, and sweeps
 * what was claimed to the receiver. What was not claimed goes back to the payer: at once with the signature of the receiving side, or after
 * a delay without it.
 *
 * The runtime code may be copied to another address: it reads no storage that a copy would lack.
 */
contract ChannelSettlement is ReentrancyGuard {
    using SafeERC20 for IERC20;

    struct ChannelConfig {
        address payer;
        /// Signs the vouchers; the zero address stands for the payer, whose contract verifies them (EIP-1271).
        address payerAuthorizer;
        address receiver;
        /// Signs claims and refunds.
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    /// Deposits less refunds and withdrawals, and the part of them that was claimed.
    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        /// Total that is claimed with this voucher; a total that was claimed before changes nothing.
        uint128 totalClaimed;
    }

    uint40 public constant MIN_WITHDRAW_DELAY = 15 minutes;
    uint40 public constant MAX_WITHDRAW_DELAY = 30 days;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 public constant CHANNEL_CONFIG_TYPEHASH =
        keccak256(
            "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
        );
    bytes32 private constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 private constant CLAIM_ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 private constant CLAIM_BATCH_TYPEHASH =
        keccak256(
            "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
        );

    mapping(bytes32 channelId => Channel) public channels;
    /// Counts refunds, so that each signature of the receiving side refunds once.
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    mapping(address receiver => mapping(address token => Receiver)) public receivers;

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error InvalidChannel();
    error ZeroDeposit();
    error DepositOverflow();
    error InvalidSignature();
    error NotReceiverAuthorizer();
    error NotAuthorizedToClaim();
    error NotAuthorizedToRefund();
    error ClaimExceedsCeiling();
    error ClaimExceedsBalance();
    error WithdrawalAlreadyPending();
    error WithdrawalNotPending();
    error NotAuthorizedToFinalizeWithdraw();
    error WithdrawDelayNotElapsed();
    error NothingToWithdraw();
    error WithdrawAmountExceedsAvailable();
    error WithdrawDelayOutOfRange();
    error EmptyBatch();
    error DepositCollectionFailed();
    error InvalidCollector();
    error InvalidRefundNonce();
    error ZeroRefund();

    /// Runs several calls of this contract in one transaction: all of them or none.
    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 index = 0; index < data.length; ++index) {
            results[index] = Address.functionDelegateCall(address(this), data[index]);
        }
    }

    /// Adds to a channel what the collector brings; anyone may send it, since the payer has signed it.
    function deposit(
        ChannelConfig calldata config,
        uint128 amount,
        address collector,
        bytes calldata collectorData
    ) external nonReentrant {
        bool complete = config.payer != address(0) && config.receiver != address(0) && config.token != address(0);
        if (!complete || config.receiverAuthorizer == address(0)) revert InvalidChannel();
        if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY) {
            revert WithdrawDelayOutOfRange();
        }
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (amount > type(uint128).max - channel.balance) revert DepositOverflow();
        channel.balance += amount;

        uint256 before = IERC20(config.token).balanceOf(address(this));
        IDepositCollector(collector).collect(config.payer, config.token, amount, id, collectorData);
        if (IERC20(config.token).balanceOf(address(this)) != before + amount) revert DepositCollectionFailed();

        if (channel.balance == amount && channel.totalClaimed == 0) emit ChannelCreated(id, config);
        emit Deposited(id, msg.sender, amount, channel.balance);
    }

    function claim(VoucherClaim[] calldata voucherClaims) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 index = 0; index < voucherClaims.length; ++index) {
            if (!_isReceivingSide(voucherClaims[index].voucher.channel)) revert NotAuthorizedToClaim();
            _claim(voucherClaims[index]);
        }
    }

    /// Claims with the signature of the receiving side over the whole batch, so that anyone may pay for the gas.
    function claimWithSignature(
        VoucherClaim[] calldata voucherClaims,
        bytes calldata authorizerSignature
    ) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        bytes32 digest = getClaimBatchDigest(voucherClaims);
        if (!SignatureChecker.isValidSignatureNowCalldata(authorizer, digest, authorizerSignature)) revert InvalidSignature();
        for (uint256 index = 0; index < voucherClaims.length; ++index) {
            if (voucherClaims[index].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            _claim(voucherClaims[index]);
        }
    }

    /// Sends the receiver what was claimed and not sent before; anyone may call it.
    function settle(address receiver, address token) external nonReentrant {
        Receiver storage sums = receivers[receiver][token];
        uint128 amount = sums.totalClaimed - sums.totalSettled;
        if (amount == 0) return;
        sums.totalSettled = sums.totalClaimed;
        IERC20(token).safeTransfer(receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    /// Starts a withdrawal without the receiving side. Vouchers that are not claimed before it ends are worth what is left.
    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isPayingSide(config)) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 id = getChannelId(config);
        Withdrawal storage pending = pendingWithdrawals[id];
        if (pending.initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > _available(id)) revert WithdrawAmountExceedsAvailable();
        pending.amount = amount;
        pending.initiatedAt = uint40(block.timestamp);
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    function finalizeWithdraw(ChannelConfig calldata config) external nonReentrant {
        if (!_isPayingSide(config)) revert NotAuthorizedToFinalizeWithdraw();
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < uint256(pending.initiatedAt) + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        uint128 amount = _min(pending.amount, _available(id));
        delete pendingWithdrawals[id];
        channels[id].balance -= amount;
        emit WithdrawFinalized(id, msg.sender, amount);
        _closeIfEmpty(id, config);
        if (amount > 0) IERC20(config.token).safeTransfer(config.payer, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isReceivingSide(config)) revert NotAuthorizedToRefund();
        _refund(config, amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external nonReentrant {
        bytes32 id = getChannelId(config);
        if (nonce != refundNonce[id]) revert InvalidRefundNonce();
        bytes32 digest = getRefundDigest(id, nonce, amount);
        if (!SignatureChecker.isValidSignatureNowCalldata(config.receiverAuthorizer, digest, receiverAuthorizerSignature)) {
            revert InvalidSignature();
        }
        _refund(config, amount);
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _typedDigest(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _typedDigest(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
    }

    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return _typedDigest(keccak256(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount)));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
        bytes32[] memory entries = new bytes32[](voucherClaims.length);
        for (uint256 index = 0; index < entries.length; ++index) {
            VoucherClaim calldata item = voucherClaims[index];
            bytes32 id = getChannelId(item.voucher.channel);
            entries[index] = keccak256(
                abi.encode(CLAIM_ENTRY_TYPEHASH, id, item.voucher.maxClaimableAmount, item.totalClaimed)
            );
        }
        return _typedDigest(keccak256(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(abi.encodePacked(entries)))));
    }

    function _claim(VoucherClaim calldata item) private {
        ChannelConfig calldata config = item.voucher.channel;
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (item.totalClaimed <= channel.totalClaimed) return;
        if (item.totalClaimed > item.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (item.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        bytes32 digest = getVoucherDigest(id, item.voucher.maxClaimableAmount);
        bool signed = config.payerAuthorizer == address(0)
            ? SignatureChecker.isValidSignatureNowCalldata(config.payer, digest, item.signature)
            : ECDSA.recoverCalldata(digest, item.signature) == config.payerAuthorizer;
        if (!signed) revert InvalidSignature();
        uint128 added = item.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = item.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += added;
        emit Claimed(id, msg.sender, added, item.totalClaimed);
    }

    /// A pending withdrawal shrinks by what was refunded.
    function _refund(ChannelConfig calldata config, uint128 requested) private {
        if (requested == 0) revert ZeroRefund();
        bytes32 id = getChannelId(config);
        refundNonce[id] += 1;
        uint128 amount = _min(requested, _available(id));
        if (amount == 0) return;
        channels[id].balance -= amount;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (pending.initiatedAt != 0) {
            if (amount >= pending.amount) delete pendingWithdrawals[id];
            else pending.amount -= amount;
        }
        emit Refunded(id, msg.sender, amount);
        _closeIfEmpty(id, config);
        IERC20(config.token).safeTransfer(config.payer, amount);
    }

    function _closeIfEmpty(bytes32 id, ChannelConfig calldata config) private {
        if (channels[id].balance == 0 && channels[id].totalClaimed == 0) emit ChannelClosed(id, config);
    }

    function _available(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function _isReceivingSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiverAuthorizer || msg.sender == config.receiver;
    }

    function _isPayingSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    function _min(uint128 one, uint128 other) private pure returns (uint128) {
        return one < other ? one : other;
    }

    function _typedDigest(bytes32 structHash) private view returns (bytes32) {
        bytes32 separator = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this))
        );
        return MessageHashUtils.toTypedDataHash(separator, structHash);
    }
}

/**
 * Collects deposits that the payer has signed as EIP-3009 `receiveWithAuthorization`. The nonce of the authorization names the channel, so a
 * signature deposits into this channel and no other.
 */
contract AuthorizationCollector is IDepositCollector {
    using SafeERC20 for IERC20;

    /// The canonical address, at which sandboxes place ChannelSettlement.
    address public constant SETTLEMENT = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    error OnlySettlement();

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != SETTLEMENT) revert OnlySettlement();
        (uint256 valid_after, uint256 valid_before, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        IReceiveWithAuthorization(token).receiveWithAuthorization(
            payer, address(this), amount, valid_after, valid_before, nonce, signature
        );
        IERC20(token).safeTransfer(SETTLEMENT, amount);
    }
}
