// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositAddress, DepositFactory} from "./DepositFactory.sol";

/// Tokens and merchants that misbehave. Only tests of deposit addresses place them.
abstract contract DepositToken {
    mapping(address account => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function move(address from, address to, uint256 value) internal {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// As USDT on Ethereum: `transfer` returns nothing.
contract NoReturnToken is DepositToken {
    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
    }
}

/// Says that it refused, without a revert.
contract FalseToken is DepositToken {
    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Keeps one percent of each transfer.
contract FeeToken is DepositToken {
    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value - value / 100);
        move(msg.sender, address(this), value / 100);
        return true;
    }
}

/// Calls back into the deposit address and the factory during each transfer, as the hooks of ERC-777 can.
contract ReentrantToken is DepositToken {
    DepositFactory private immutable factory;
    bool private inside;

    constructor(DepositFactory factory_) {
        factory = factory_;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (!inside) {
            inside = true;
            DepositAddress(msg.sender).sweep(address(this));
            DepositFactory.Deposit[] memory own = new DepositFactory.Deposit[](1);
            own[0] = DepositFactory.Deposit(keccak256("inner"), to);
            factory.sweep(address(this), own);
            inside = false;
            // The inner sweep has moved the balance already.
            value = balanceOf[msg.sender];
        }
        move(msg.sender, to, value);
        return true;
    }
}

/// A merchant that is a contract and sweeps again while it receives the coin of the chain.
contract ReentrantMerchant {
    bool private inside;

    receive() external payable {
        if (inside) return;
        inside = true;
        DepositAddress(msg.sender).sweep(address(0));
        inside = false;
    }
}
