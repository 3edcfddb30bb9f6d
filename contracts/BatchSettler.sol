// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/**
 * Settles many EIP-3009 authorizations of one token in one transaction. It has no owner, no storage, no approvals and no way to take
 * ether, and money moves only as its payer signed, so anybody may call it.
 *
 * One payment never fails another. Each runs with at most ITEM_GAS gas, and is begun only when that much is left, so that none fails
 * for want of gas while the transaction succeeds. What a payment returns, or reverts with, is not copied. Success is not reported:
 * the token's own events prove it.
 *
 * Gas to send along: 40,000 and 130,000 for each payment, so that all are tried whatever some of them burn. An estimate is of no use:
 * a batch that tries nothing succeeds too, with the least gas.
 */
contract BatchSettler {
    uint256 public constant ITEM_GAS = 120_000;
    uint256 public constant MAX_ITEMS = 50;
    /// A call gets at most 63/64 of what is left; the rest pays for the call itself, and for an event after it.
    uint256 private constant NEEDED_GAS = (ITEM_GAS * 64) / 63 + 15_000;
    /// transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
    bytes4 private constant TRANSFER = 0xe3ee160e;

    /// The arguments of `transferWithAuthorization`, in its order: the encoding of a payment is the call's own.
    struct Payment {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    /// The payment at this index was refused by the token, or ran into its gas cap.
    event Failed(uint256 index);
    /// Too little gas was left: nothing from this index on was begun.
    event NotTried(uint256 index);

    error NoPayments();
    error TooManyPayments();
    error NotAContract();

    /// `failed` has bit i set for each payment i that failed; payments from `tried` on were not begun.
    function settle(address token, Payment[] calldata payments) external returns (uint256 failed, uint256 tried) {
        require(payments.length != 0, NoPayments());
        require(payments.length <= MAX_ITEMS, TooManyPayments());
        // A call to an account without code succeeds and moves nothing.
        require(token.code.length != 0, NotAContract());
        for (; tried < payments.length; ++tried) {
            if (gasleft() < NEEDED_GAS) {
                emit NotTried(tried);
                break;
            }
            if (_call(token, payments[tried])) continue;
            failed |= 1 << tried;
            emit Failed(tried);
        }
    }

    function _call(address token, Payment calldata payment) private returns (bool done) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, TRANSFER)
            calldatacopy(add(start, 4), payment, 288)
            done := call(ITEM_GAS, token, 0, start, 292, 0, 0)
        }
    }
}
